"""How a streamed answer is cut into events: server-sent events, JSON lines, Amazon's event stream."""
