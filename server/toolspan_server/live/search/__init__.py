"""Tools found by words where there are too many to list: an index of them, and two tools by which clients use
it."""
