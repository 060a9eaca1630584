"""What a server may send: how much, how often, and JSON of what size and depth."""
