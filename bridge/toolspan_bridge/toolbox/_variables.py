"""Expands ``${VAR}`` in ``.mcp.json``, with the syntax of other clients."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from toolspan_server.schema.variables import substituted

_OTHER = re.compile(r"\$\{(?!env:)\w+:[^{}]*+(?:\{[^{}]*+)?\}")


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

    def known(name: str, default: str | None) -> str:
        if (found := environment.get(name)) is not None:
            put_in.add(found)
            return found
        if default is None:
            fix = f"set it, or write ${{{name}:-default}}"
            problems.append(f"the environment variable {name} is not set ({fix})")
        return default or ""

    def filled(text: str) -> str:
        def other(at: int) -> str:
            if found := _OTHER.match(text, at):
                problems.append(f"{found.group()} cannot be filled in here (write the value, or ${{VAR}})")
            return "${"

        return substituted(text, known, other, escapes=False)

    def walk(node: Any) -> Any:
        if isinstance(node, str):
            return filled(node)
        if isinstance(node, dict):
            entries = cast("dict[str, Any]", node)
            return {key: walk(item) for key, item in entries.items()}
        return [walk(item) for item in cast("Iterable[Any]", node)] if isinstance(node, list) else node

    expanded = walk(value)
    return Expansion(expanded, frozenset(put_in), problems[0] if problems else "")
