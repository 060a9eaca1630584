"""The modules of this package that register handlers, and the names that each registers.

The names are read from the modules' text, so that only the module of a handler that is used is imported. A
module whose text does not show every name (a computed one, no source) is imported for any name.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from ...common.modules.sources import found_spec, source_of

PACKAGE = "toolspan_server.tools.handlers"
_REGISTRATION = re.compile(rb"""(?<![\w])handler\(\s*(?:["']([^"'\\]+)["']\s*[,)])?|\bhandler\s+as\s()""")


@cache
def own_modules() -> tuple[str, ...]:
    """The public modules of the package, sorted."""
    return tuple(each.name for each in _found(import_module(PACKAGE).__path__) if not each.ispkg)


@cache
def inner_modules() -> tuple[str, ...]:
    """The public modules of the packages in it, as ``package.module``, sorted. None of them is imported."""
    packages = [each.name for each in _found(import_module(PACKAGE).__path__) if each.ispkg]
    places = {name: found_spec(f"{PACKAGE}.{name}").submodule_search_locations for name in packages}
    return tuple(f"{name}.{each.name}" for name, place in places.items() for each in _found(place))


def import_own(name: str | None = None) -> None:
    """Import the modules that may register the handler ``name``, or all of them.

    Those of packages are looked at only for a name that no other module has.
    """
    if _imported(own_modules(), name) == 0 or name is None:
        _imported(inner_modules(), name)


def _imported(modules: Iterable[str], name: str | None) -> int:
    """Import those of ``modules`` that may register the handler ``name``; how many they are."""
    wanted = [module for module in modules if name is None or _may_register(module, name)]
    for module in wanted:
        import_module(f"{PACKAGE}.{module}")
    return len(wanted)


def _found(places: Iterable[str] | None) -> list[pkgutil.ModuleInfo]:
    public = (each for each in pkgutil.iter_modules(places) if not each.name.startswith("_"))
    return sorted(public, key=lambda each: each.name)


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
