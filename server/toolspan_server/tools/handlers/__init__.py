"""The builtin and internal handlers that ship with the server. One module a handler, or a family of them."""
