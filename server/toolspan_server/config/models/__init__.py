"""The records of the config file: frozen data, and the source of the published JSON Schema."""
