"""Names of databases: those that tools ask have to be configured."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...problems import Fault, Path
from .tool_references import entries, inside


def unknown_databases(data: Any, known: Collection[str]) -> Iterator[Fault]:
    """A fault for each tool of raw ``data`` that queries a database that is not among ``known``."""
    for index, entry in enumerate(entries(inside(inside(data, "tools"), "registry"))):
        implementation = inside(entry, "implementation")
        if inside(implementation, "handler") != "sql_query":
            continue
        name = inside(inside(implementation, "options"), "database")
        if isinstance(name, str) and name not in known:
            place: Path = ("tools", "registry", index, "implementation", "options", "database")
            hint = nearest(name, known) if known else "add it to services.databases"
            yield Fault(place, f"unknown database {str(name)!r}", hint)


def database_names(data: Any) -> list[str]:
    """The names of the databases of raw ``data``."""
    named = inside(inside(data, "services"), "databases")
    return list(cast("dict[str, Any]", named)) if isinstance(named, dict) else []
