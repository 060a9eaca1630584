"""``toolspan-server``: the command line, the log, the event loop."""
