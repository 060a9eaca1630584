"""Where the contents of a conversation come from, and which calls would carry them outward."""
