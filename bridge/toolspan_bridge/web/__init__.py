"""The page, the API and the gateway: one Starlette app over the sessions, behind the server's own guard.

``api`` has one module a resource with its ``ENDPOINTS``, and each package here with a module ``part`` has a
``PART``: both are found by looking. ``app`` puts them together and serves them.
"""
