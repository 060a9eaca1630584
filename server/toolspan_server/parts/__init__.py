"""What a kind, a source and a service must offer so that a config can name it."""
