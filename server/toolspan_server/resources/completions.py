"""Completion of what someone has typed so far (MCP 2026-07-28, server/utilities/completion)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._folder import OneFile
from .errors import ResourceNotFound, ResourceUnreadable

if TYPE_CHECKING:
    from ..config.models.completions import CompletableConfig

MOST_VALUES = 100
_LONGEST_VALUE = 1_000


class CompletionUnavailable(Exception):
    """The values are not available; the message says why."""


def offered(values: Iterable[str], typed: str) -> dict[str, Any]:
    """The ``completion`` of a result: ``values`` that start with ``typed``, then those that contain it.

    Case is ignored. At most 100 values are returned; ``total`` counts all matches.
    """
    wanted = typed.casefold()
    known = {value: value.casefold() for value in values}
    matching = [value for value, folded in known.items() if folded.startswith(wanted)]
    matching += [
        value for value, folded in known.items() if wanted in folded and not folded.startswith(wanted)
    ]
    shown = matching[:MOST_VALUES]
    return {"values": shown, "total": len(matching), "hasMore": len(matching) > len(shown)}


def values_of(config: CompletableConfig, given: Mapping[str, str], base: Path, limit: int) -> Sequence[str]:
    """The values to offer when the other arguments are ``given``. Reads a file if ``config`` names one.

    Raises ``CompletionUnavailable``.
    """
    if config.values is not None:
        return config.values
    if config.values_by is not None:
        ((other, lists),) = config.values_by.items()
        if other in given:
            return lists.get(given[other], ())
        return [value for values in lists.values() for value in values]
    return [] if config.values_from is None else _from_file(config, config.values_from, base, limit)


def _from_file(config: CompletableConfig, path: str, base: Path, limit: int) -> list[str]:
    try:
        text = OneFile(path, base, path, config.outside).read(path, limit).decode("utf-8-sig")
        if path.lower().endswith(".json"):
            return _texts(json.loads(text))
    except ResourceNotFound:
        raise CompletionUnavailable(f"the file {path!r} with the values is not there") from None
    except (ResourceUnreadable, ValueError, RecursionError) as error:
        raise CompletionUnavailable(f"the file {path!r} with the values cannot be read: {error}") from None
    return [line.strip() for line in text.splitlines() if 0 < len(line.strip()) <= _LONGEST_VALUE]


def _texts(values: Any) -> list[str]:
    if not isinstance(values, list):
        raise ValueError("it is no list")
    return [
        each
        for each in cast("Sequence[Any]", values)
        if isinstance(each, str) and 0 < len(each) <= _LONGEST_VALUE
    ]
