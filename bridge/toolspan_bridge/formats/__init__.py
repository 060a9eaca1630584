"""Wire formats: pure functions between messages and a provider's JSON. One module a format.

Each module offers the same names; ``Format`` is that contract:

    render_tools(tools, names) -> JSON            the exact tool payload
    render_request(request, names) -> JSON        the whole request body
    parse_reply(body) -> Reply                    one answer; raises ``FormatError`` when it is none
    parse_stream() -> StreamParser                reads a streamed answer; ``end()`` gives the same ``Reply``
    parse_error(status, headers, body) -> WireError
    losses(tools) -> list[Loss]                   what the payload cannot say
    restore(tool, arguments) -> arguments         what the payload changed, undone

``names`` is the table that maps tools to wire names and back (``toolspan_bridge.formats.names``).
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import cast

from ._contract import Format, FormatError, Loss, Severity, StreamFailed, StreamParser, WireError

__all__ = [
    "Format",
    "FormatError",
    "Loss",
    "Severity",
    "StreamFailed",
    "StreamParser",
    "WireError",
    "format_names",
    "get_format",
]

_SHARED = {"names", "schemas"}


@cache
def format_names() -> tuple[str, ...]:
    """Every format's name, sorted."""
    modules = (m.name for m in pkgutil.iter_modules(__path__))
    found = (name for name in modules if not name.startswith("_") and name not in _SHARED)
    return tuple(sorted(name.replace("_", "-") for name in found))


@cache
def get_format(name: str) -> Format:
    """The format ``name``. Raises ``KeyError`` when there is none."""
    if name not in format_names():
        raise KeyError(name)
    return cast("Format", import_module(f"{__name__}.{name.replace('-', '_')}"))
