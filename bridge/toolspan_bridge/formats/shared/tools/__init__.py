"""Tools as they are sent: their schemas compiled, and which of them must be called."""
