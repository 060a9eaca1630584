"""The sorts of content of an entry of ``resources``: a module each, called like its key."""
