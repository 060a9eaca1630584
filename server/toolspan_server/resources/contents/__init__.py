"""The content types of entries of ``resources``: one module each, named like its key."""
