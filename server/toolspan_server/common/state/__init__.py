"""State on disk: how its files are reached, and whose a state folder is."""
