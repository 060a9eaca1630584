"""A statement with the values of its parameters, as SQLAlchemy takes them. Imports SQLAlchemy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import BindParameter, TextClause, bindparam, text

from ...errors import InvalidParameters
from ._statement import for_sqlalchemy, parameters_of, split_lists
from ._values import as_parameter

_NONE: frozenset[str] = frozenset()
MOST_LISTED = 10_000
"""Most values of the lists of one statement."""


def bound(statement: str, values: Mapping[str, Any], dialect: str) -> tuple[TextClause, dict[str, Any]]:
    """``statement`` and what is bound to its parameters; one without a value is null.

    A list stands for its values right after ``IN``, and nowhere else: which parameters are lists is read from
    the statement and never from the values, so that no call changes how another one's are bound.
    Raises ``InvalidParameters``.
    """
    listed, single = split_lists(statement)
    lists = {name: _list(name, values.get(name)) for name in listed}
    if sum(map(_size, lists.values())) > MOST_LISTED:
        raise InvalidParameters([f"the lists have more than the {MOST_LISTED} values that a statement takes"])
    empty = frozenset(name for name, items in lists.items() if not items)
    clause, names = _clause(statement, empty if dialect == "postgresql" else _NONE)
    parameters = {name: _one(name, values.get(name), name in lists) for name in single}
    return clause, parameters | {names[name]: items for name, items in lists.items() if name in names}


@lru_cache(maxsize=256)
def _clause(statement: str, none_of: frozenset[str]) -> tuple[TextClause, dict[str, str]]:
    """The clause, and under which name it takes each list. The lists ``none_of`` are written as empty arrays:
    SQLAlchemy's empty set has a type on PostgreSQL, which need not be that of the column."""
    taken = set(parameters_of(statement))
    names: dict[str, str] = {}
    for name in split_lists(statement).listed:
        if name not in none_of:
            names[name] = _free(f"{name}_values", taken)
            taken.add(names[name])
    lists: list[BindParameter[Any]] = [bindparam(name, expanding=True) for name in names.values()]
    return text(for_sqlalchemy(statement, names)).bindparams(*lists), names


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _list(name: str, value: Any) -> list[Any]:
    """The values of the list ``name``; null is one null, so that ``IN`` finds nothing."""
    if value is None:
        return [None]
    if not isinstance(value, list | tuple):
        raise InvalidParameters([f"'{name}' must be an array, for the statement asks IN :{name}"])
    items = [as_parameter(item) for item in cast("Sequence[Any]", value)]
    widths = {len(_parts(item)) if isinstance(item, list) else -1 for item in items}
    is_nested = any(isinstance(part, list) for item in items for part in _parts(item))
    if is_nested or len(widths) > 1 or 0 in widths:
        fault = f"the items of '{name}' must be single values, or all of them arrays of as many single values"
        raise InvalidParameters([fault])
    return items


def _parts(item: Any) -> list[Any]:
    return cast("Any", item) if isinstance(item, list) else []


def _size(items: list[Any]) -> int:
    return sum(len(_parts(item)) or 1 for item in items)


def _one(name: str, value: Any, is_list_too: bool) -> Any:
    """A single value. A list that the statement has after ``IN`` too is its JSON, as in ``:ids IS NULL``."""
    if not isinstance(value, list | tuple):
        return as_parameter(value)
    if is_list_too:
        return json.dumps(value)
    fault = f"'{name}' must be a single value: a list stands only after IN, as in IN :{name}"
    raise InvalidParameters([fault])
