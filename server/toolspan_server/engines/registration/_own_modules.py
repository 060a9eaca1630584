"""The modules of this package that register handlers, and the names that each registers.

The names are read from the modules' text, so that only the module of a handler that is used is imported. A
module whose text does not show every name (a computed one, no source) is imported for any name.
"""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from importlib import import_module

from ...common.module_sources import source_of

PACKAGE = "toolspan_server.tools.handlers"
_REGISTRATION = re.compile(rb"""(?<![\w])handler\(\s*(?:["']([^"'\\]+)["']\s*[,)])?|\bhandler\s+as\s()""")


@cache
def own_modules() -> tuple[str, ...]:
    """The public modules of the package, sorted."""
    found = pkgutil.iter_modules(import_module(PACKAGE).__path__)
    return tuple(sorted(module.name for module in found if not module.name.startswith("_")))


def import_own(name: str | None = None) -> None:
    """Import the modules that may register the handler ``name``, or all of them."""
    for module in own_modules():
        if name is None or _may_register(module, name):
            import_module(f"{PACKAGE}.{module}")


def _may_register(module: str, name: str) -> bool:
    names = _names_in(module)
    return names is None or name in names


@cache
def _names_in(module: str) -> frozenset[str] | None:
    """The names of the handlers in the text of ``module``; ``None`` when the text does not show them all."""
    source = source_of(f"{PACKAGE}.{module}")
    if source is None:
        return None
    found = [match.group(1) for match in _REGISTRATION.finditer(source)]
    return frozenset(name.decode() for name in found) if all(found) else None
