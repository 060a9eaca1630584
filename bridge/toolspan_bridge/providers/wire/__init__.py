"""Wire formats over HTTP: what the providers with an address share."""
