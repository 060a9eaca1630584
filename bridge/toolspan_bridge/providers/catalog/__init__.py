"""The providers, one module each with a ``connect``: found by the module's name."""
