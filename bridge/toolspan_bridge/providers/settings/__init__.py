"""Where a provider is and what opens it: environment variables, base URLs, keys."""
