"""The live tools: the registry, the executor and its steps, kinds, handlers, sources, services."""
