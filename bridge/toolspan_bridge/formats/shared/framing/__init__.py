"""Splits streamed answers into events: server-sent events, JSON lines, Amazon's event stream."""
