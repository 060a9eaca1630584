"""The validation store: one SQLite file, made whole, locked, examined, and read beside its writers."""
