"""Tools ready to run: the registry, the executor and its steps, kinds, handlers, sources, services."""
