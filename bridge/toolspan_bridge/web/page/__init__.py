"""The page of ``toolspan ui``: HTML, CSS and ES modules, served as they are, without a build step.

    routes = page_routes()

The files are read once. Everything that the page shows it asks from the API (``/api/…``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .routes import page_routes

__all__ = ["page_routes"]

_MODULES = {"page_routes": ".routes"}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
