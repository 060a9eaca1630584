"""Pages of the web as Markdown: fetched by the guarded HTTP client, converted in another process, cached.

What a page holds is data from a stranger: here it is only made readable, never obeyed.
"""

from __future__ import annotations

from ._page import Page
from ._pages import WebLimits, WebPages

__all__ = ["Page", "WebLimits", "WebPages"]
