"""Parses the provider's output, replies, streams and error answers, into the bridge's own types."""
