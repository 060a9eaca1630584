"""What the provider sent back: replies, streams and error answers, read into the bridge's own types."""
