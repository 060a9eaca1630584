"""Which operations become tools."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal

from ...common.re2_patterns import compiled
from ...schema.constraints import Limits
from ...schema.records import Record, key
from ._description import Operation

_Glob = Annotated[str, Limits(least=1, most=500)]
_Method = Literal["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"]


class OperationsConfig(Record):
    """Operations by tag, path, id or method; each list that is given must hold."""

    tags: tuple[_Glob, ...] = key("Operations with any of these tags.", default=())
    paths: tuple[_Glob, ...] = key(
        "Operations whose path matches: * is anything within a segment, ** any number of segments.",
        default=(),
    )
    operations: tuple[_Glob, ...] = key("Operations with these operationIds; * matches any text.", default=())
    methods: tuple[_Method, ...] = key("Operations with these methods.", default=())


def includes(wanted: OperationsConfig, operation: Operation) -> bool:
    """Whether ``operation`` meets every condition of ``wanted``; it does when there is none."""
    return (
        (not wanted.tags or any(tag in wanted.tags for tag in operation.tags))
        and (not wanted.paths or _matches(wanted.paths, operation.path))
        and (not wanted.operations or _matches(wanted.operations, operation.id))
        and (not wanted.methods or operation.method.upper() in wanted.methods)
    )


def excludes(unwanted: OperationsConfig, operation: Operation) -> bool:
    """Whether any condition of ``unwanted`` holds for ``operation``."""
    return (
        any(tag in unwanted.tags for tag in operation.tags)
        or _matches(unwanted.paths, operation.path)
        or _matches(unwanted.operations, operation.id)
        or operation.method.upper() in unwanted.methods
    )


def _matches(globs: Iterable[str], name: str) -> bool:
    return any(_pattern(glob).fullmatch(name) for glob in globs)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> Any:
    """The pattern of RE2 for ``glob``: its time grows with the name alone, however many stars it has."""
    parts = re.split(r"(\*+)", glob)
    return compiled(
        "".join(
            re.escape(part) if not part.startswith("*") else "[^/]*" if part == "*" else ".*"
            for part in parts
        )
    )
