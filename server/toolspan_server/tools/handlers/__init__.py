"""The builtin and internal handlers that ship with the server. One module a handler, or a family of them.

A function ``(arguments, context) -> JSON value`` is registered by ``@handler("name")`` of
``engines.registration``, as a user's own is. The first paragraph of its docstring shows the shapes of both.
"""
