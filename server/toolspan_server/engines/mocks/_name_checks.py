"""Whether the templates and conditions of a mock use only what is there: known answers, call, client."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...problems import Fault
from ...problems import Path as Place
from ...schema.records import Record
from ..mock_steps import RESERVED
from ..templates import path_of, references

_LITERAL = ("mock_response",)


def unknown_names(config: Record, asked: Collection[str]) -> list[Fault]:
    """A fault for each use of an answer that nothing ``asked`` for, or of what no call and no client has."""
    return [
        Fault(place, message, hint, on_key)
        for place, path, on_key in _uses(config, ())
        for message, hint in _unknown(path, asked)
    ]


def uses_client(config: Record) -> bool:
    """Whether a template or condition looks at what the client can do."""
    return any(path[0] == "client" for _, path, _ in _uses(config, ()))


def _uses(value: Any, place: Place) -> Iterator[tuple[Place, Place, bool]]:
    """Where each path stands, the path, and whether it is a key."""
    if isinstance(value, Record):
        for name, each in type(value).model_fields.items():
            if name in value.model_fields_set and name not in _LITERAL:
                spelled = each.spellings[0] if each.spellings else name
                part = getattr(value, name)
                if name == "when":
                    yield from _conditions(part, (*place, spelled))
                else:
                    yield from _uses(part, (*place, spelled))
    elif isinstance(value, str):
        yield from ((place, path, False) for path in sorted(references(value), key=str))
    elif isinstance(value, Mapping):
        for name, part in cast("Mapping[str, Any]", value).items():
            yield from _uses(part, (*place, name))
    elif isinstance(value, list | tuple):
        for at, part in enumerate(cast("Sequence[Any]", value)):
            yield from _uses(part, (*place, at))


def _conditions(when: Any, place: Place) -> Iterator[tuple[Place, Place, bool]]:
    for path in cast("Mapping[str, Any]", when or {}):
        yield (*place, path), path_of(path), True


def _unknown(path: Place, asked: Collection[str]) -> Iterator[tuple[str, str]]:
    root, *inside = path
    if root not in RESERVED or not inside:
        return
    fixed = RESERVED[str(root)]
    known = asked if root == "answers" else fixed
    if known is not None and inside[0] not in known:
        message = (
            f"nothing asks for the answer {inside[0]!r}"
            if root == "answers"
            else f"{root!r} has no {inside[0]!r}"
        )
        yield message, nearest(str(inside[0]), known)
