"""The HTTP server under every app of ours: connections with deadlines and budgets, a guard before routes.

``connection`` is uvicorn's protocol class within limits, ``guard`` lets requests pass (Host, Origin, token),
``auth`` knows tokens, ``access`` says who may come in, for a config and an address. It knows nothing of MCP:
the MCP endpoint and the bridge's page, API and gateway stand on it.
"""
