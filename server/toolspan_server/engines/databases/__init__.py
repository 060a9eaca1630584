"""SQL databases: statements are bound, bounded and, unless they say otherwise, unable to change anything."""
