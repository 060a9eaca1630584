"""How trials are written: gathered over threads, what they refer to first, many rows in a statement. Imports
SQLAlchemy."""
