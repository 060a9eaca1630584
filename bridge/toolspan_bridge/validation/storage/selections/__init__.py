"""Which trials of a store are read, and how they are."""
