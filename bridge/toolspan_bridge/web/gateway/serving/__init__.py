"""Serving the gateway: what a request chooses, the run that answers it, and the exchange over HTTP."""
