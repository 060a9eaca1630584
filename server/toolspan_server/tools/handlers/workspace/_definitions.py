"""The tools of a workspace, all of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ....parts.discovery import module_names

if TYPE_CHECKING:
    from ._tool import Definition

_HANDLERS = "toolspan_server.tools.handlers"
_PACKAGES = (f"{_HANDLERS}.workspace", f"{_HANDLERS}.agent")


def definitions() -> list[Definition]:
    """The definition of every tool of a workspace, by the names of their modules."""
    found = [(name, package) for package in _PACKAGES for name in module_names(package)]
    return [import_module(f"{package}.{name}").DEFINITION for name, package in sorted(found)]
