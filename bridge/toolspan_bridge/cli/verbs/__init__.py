"""The verbs of the command line: one module each with a ``command``, imported when it is called."""
