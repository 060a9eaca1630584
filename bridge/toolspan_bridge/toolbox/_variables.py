"""``${VAR}`` in ``.mcp.json``, as other clients write it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_OTHER = re.compile(r"\$\{(?!env:)\w+:(?!-)[^}]*\}")


@dataclass(frozen=True, slots=True)
class Expansion:
    """A JSON value with its variables replaced: ``values`` were put in, ``problem`` is what could not be."""

    value: Any = None
    values: frozenset[str] = frozenset()
    problem: str = ""


def expand(value: Any, environment: Mapping[str, str]) -> Expansion:
    """``value`` with ``${VAR}``, ``${env:VAR}`` and ``${VAR:-default}`` replaced in every string."""
    put_in: set[str] = set()
    problems: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        if (known := environment.get(name)) is not None:
            put_in.add(known)
            return known
        if default is None:
            fix = f"set it, or write ${{{name}:-default}}"
            problems.append(f"the environment variable {name} is not set ({fix})")
        return default or ""

    def walk(node: Any) -> Any:
        if isinstance(node, str):
            if other := _OTHER.search(node):
                problems.append(f"{other.group()} cannot be filled in here (write the value, or ${{VAR}})")
            return _VARIABLE.sub(replaced, node)
        if isinstance(node, dict):
            entries = cast("dict[str, Any]", node)
            return {key: walk(item) for key, item in entries.items()}
        return [walk(item) for item in cast("Iterable[Any]", node)] if isinstance(node, list) else node

    expanded = walk(value)
    return Expansion(expanded, frozenset(put_in), problems[0] if problems else "")
