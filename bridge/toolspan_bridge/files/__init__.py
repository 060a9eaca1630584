"""Files of the user: where they are, and how they are put on disk."""
