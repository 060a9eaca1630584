"""Conversations in the form that providers require: ordered turns, one result a call, limited media."""
