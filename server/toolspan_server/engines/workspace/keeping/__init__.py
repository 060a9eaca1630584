"""Changes of files: how they are made, what is kept of them, and what a conversation knows of a file."""
