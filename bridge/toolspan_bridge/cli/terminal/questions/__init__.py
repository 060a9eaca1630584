"""Questions at the terminal: a line that is typed, one question at a time."""
