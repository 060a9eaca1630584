"""Handlers: the Python functions behind builtin and internal tools.

``@handler("name")`` registers a function ``(arguments, context) -> JSON value``, plain or
``async``. Our own modules in this package register that way, and so does anybody's: through a
module that the config names under ``handlers``, or through an installed package's entry point of
the group ``toolspan.handlers`` whose name is the handler's. Such an entry point refers to the module
that registers the handler, or to the function itself.
"""

from __future__ import annotations

from ._table import (
    Handler,
    HandlerTraits,
    find_handler,
    handler,
    handler_file,
    handler_names,
    handler_pin,
    handler_problem,
    handler_traits,
    is_ours,
    is_registered,
    load_handler_source,
    pin_handlers,
)
from ._without_import import declared, may_read, read_handler_source, reading_only

__all__ = [
    "Handler",
    "HandlerTraits",
    "declared",
    "find_handler",
    "handler",
    "handler_file",
    "handler_names",
    "handler_pin",
    "handler_problem",
    "handler_traits",
    "is_ours",
    "is_registered",
    "load_handler_source",
    "may_read",
    "pin_handlers",
    "read_handler_source",
    "reading_only",
]
