"""Tools, servers, and what servers have besides tools."""
