"""What tools are made of, each usable by itself: templates, HTTP client, documents, databases, MCP client"""
