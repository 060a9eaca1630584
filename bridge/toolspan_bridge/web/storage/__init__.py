"""The SQLite files of the web's own state, in the state folder: locked, private, shared by processes."""
