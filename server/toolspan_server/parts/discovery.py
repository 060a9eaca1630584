"""Discovers the parts of one type: every module of a package is one, so no list names them."""

from __future__ import annotations

import pkgutil
import sys
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

from ..common.modules.sources import found_spec
from ..schema.deferred import Deferred
from ..schema.records import Record

R = TypeVar("R", bound=Record)


class Parts(Generic[R]):
    """The public modules of ``package``, each with a ``Config`` that is an ``R``.

    The package is searched at first use; a part is imported when a config names it.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self._configs: dict[str, type[R]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every part's name, sorted."""
        return module_names(self.package)

    def module(self, name: str) -> ModuleType:
        """The module of the part ``name``. Raises ``KeyError`` when there is no such part."""
        if name not in self.names:
            raise KeyError(name)
        return import_module(f"{self.package}.{name}")

    def config(self, name: str) -> type[R]:
        """The ``Config`` of the part ``name``. Raises ``KeyError`` when there is no such part."""
        found = self._configs.get(name)
        if found is None:
            found = self._configs[name] = cast("type[R]", cast("Any", self.module(name)).Config)
        return found

    def deferred(self, name: str) -> Deferred:
        """The ``Config`` of the part ``name``, imported only when there is data for it."""
        return Deferred(partial(self.config, name))


@cache
def module_names(package: str) -> tuple[str, ...]:
    """The public modules of ``package``, sorted. None of them is imported."""
    loaded = sys.modules.get(package)
    places = found_spec(package).submodule_search_locations if loaded is None else loaded.__path__
    found = pkgutil.iter_modules(places)
    return tuple(sorted(module.name for module in found if not module.name.startswith("_")))
