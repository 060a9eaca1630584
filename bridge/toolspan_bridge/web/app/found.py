"""What is in the app: endpoints and parts, found by looking into the package."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ..endpoint import Endpoint
    from ..part import Part

_WEB = __name__.rpartition(".app.")[0]


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Every endpoint of ``web/api``."""
    found: list[Endpoint] = []
    for name in _names(f"{_WEB}.api"):
        module = import_module(f"{_WEB}.api.{name}")
        found += cast("Sequence[Endpoint]", module.ENDPOINTS)
    return tuple(found)


@cache
def parts() -> tuple[Part, ...]:
    """The ``PART`` of every package of ``web`` that has one, in the order of their names."""
    found: list[Part] = []
    for name in _names(_WEB, packages=True):
        if find_spec(f"{_WEB}.{name}.part") is not None:
            found.append(cast("Part", import_module(f"{_WEB}.{name}.part").PART))
    return tuple(found)


def _names(package: str, *, packages: bool = False) -> Iterator[str]:
    """The public modules of ``package``, sorted; with ``packages`` only those that are packages."""
    found = pkgutil.iter_modules(import_module(package).__path__)
    names = (each.name for each in found if each.ispkg or not packages)
    return iter(sorted(name for name in names if not name.startswith("_")))
