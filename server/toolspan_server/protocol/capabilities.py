"""What the server says that it can do, in both eras."""

from __future__ import annotations

from typing import Any

from ..surface import Surface


def capabilities(surface: Surface, *, modern: bool) -> dict[str, Any]:
    """``ServerCapabilities``, as ``initialize`` and ``server/discover`` have them."""
    return {"tools": {"listChanged": False}}
