"""The names of a package that are imported when they are first asked for (PEP 562).

    if TYPE_CHECKING:
        from .engine import Engine

    if not TYPE_CHECKING:
        __getattr__, __dir__ = lazy_exports(__name__, {"Engine": ".engine"})

Type checkers read the imports, and know of no other names; a program pays only for what it uses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of ``package``; ``modules`` has the module of each name, relative
    to the package where it begins with a dot. A name is imported once, and then is the package's own.

    ``__getattr__`` raises ``AttributeError`` for names that are not among them.
    """

    def get(name: str) -> object:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module, package), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get, names
