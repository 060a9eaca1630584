"""Strict modes: how one is chosen for a tool, and the rules of each provider that has one."""
