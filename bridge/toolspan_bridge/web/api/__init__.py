"""The endpoints of the API: one module a resource, found by looking, each with its ``ENDPOINTS``."""
