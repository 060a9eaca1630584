"""Wire formats over HTTP: the common part of providers with an address."""
