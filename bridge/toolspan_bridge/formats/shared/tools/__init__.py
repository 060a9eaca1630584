"""Tools as they are sent: compiled schemas, and which tool must be called."""
