"""Measures what injected instructions achieve, with the cases of AgentDojo and scripted attackers."""
