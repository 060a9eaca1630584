"""Traversal of a JSON Schema: its subschemas, and steps that change every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..json_values import as_list, as_object

Schema = dict[str, Any]
"""An object schema; boolean schemas are ``bool``."""

MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SINGLES = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """A loss of a step: where, by which rule, and its replacement.

    ``name`` is the keyword or property that it is about.
    """

    pointer: str
    rule: str
    repair: str
    name: str = ""


Step = Callable[[Schema], tuple[Schema, list[Change]]]
"""A transformation of a whole schema, with its losses."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """A step that returns a schema unchanged, without losses, unless it is ``needed``.

    ``needed`` is asked about all object schemas in it, the root first.
    """

    step: Step
    needed: Callable[[Sequence[Schema]], bool]

    def __call__(self, schema: Schema) -> tuple[Schema, list[Change]]:
        return self.step(schema)


def applied(steps: Iterable[Step], schema: Schema) -> tuple[Schema, list[Change]]:
    """``schema`` after ``steps``, each of which runs only where it may be needed."""
    changes: list[Change] = []
    inside: Sequence[Schema] | None = None
    for step in steps:
        if isinstance(step, Conditional):
            inside = list(object_schemas_in(schema)) if inside is None else inside
            if not step.needed(inside):
                continue
        schema, more = step(schema)
        changes.extend(more)
        inside = None
    return schema, changes


Note = Callable[[str, str, str], None]
"""Receives the pointer, rule and repair of a change."""

Visit = Callable[[Schema, str, Note], Schema]
"""Returns the replacement of a subschema whose own subschemas are done. It may change the dict."""


class Unrenderable(Exception):
    """No provider would accept the schema, or its meaning is unknown: the tool is left out."""

    def __init__(self, pointer: str, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.change = Change(pointer, rule, f"tool left out: {reason}")

    def at(self, pointer: str) -> Unrenderable:
        """The same loss at another place."""
        return Unrenderable(pointer, self.change.rule, str(self))


def everywhere(
    visit: Visit,
    *,
    skip: frozenset[str] = frozenset(),
    where: Callable[[Schema], bool] | None = None,
) -> Step:
    """The step that applies ``visit`` to every subschema, the inner ones first, the root last.

    Values of keywords in ``skip`` are not changed. If ``where`` holds for none of the
    subschemas, ``visit`` changes none of them either.
    """

    def step(schema: Schema) -> tuple[Schema, list[Change]]:
        changes: list[Change] = []

        def note(pointer: str, rule: str, repair: str) -> None:
            changes.append(Change(pointer, rule, repair, (tokens(pointer) or [""])[-1]))

        return _rewrite(schema, "", visit, note, skip), changes

    return step if where is None else Conditional(step, lambda inside: any(map(where, inside)))


def using(*keywords: str) -> Callable[[Schema], bool]:
    """Whether a schema has one of ``keywords``."""
    wanted = frozenset(keywords)
    return lambda node: not wanted.isdisjoint(node)


def object_schemas_in(schema: Schema) -> Iterator[Schema]:
    """Every object schema in ``schema``, itself first."""
    yield schema
    for keyword, value in schema.items():
        if keyword in MAPS and (named := as_object(value)) is not None:
            inside: Iterable[Any] = named.values()
        elif (listed := as_list(value)) is not None and (keyword in LISTS or keyword == "items"):
            inside = listed
        elif keyword in SINGLES:
            inside = (value,)
        else:
            continue
        for inner in inside:
            if (found := as_object(inner)) is not None:
                yield from object_schemas_in(found)


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, Schema]]:
    """Every object schema in ``schema`` with its JSON pointer, the outer ones first."""
    waiting = [(pointer, schema)]
    while waiting:
        where, node = waiting.pop()
        if (found := as_object(node)) is not None:
            yield where, found
            waiting.extend((where + tail, inner) for tail, inner in children(found))


def children(node: Schema) -> Iterator[tuple[str, Any]]:
    """The schemas directly inside ``node``, booleans included, each with its pointer from there."""
    for keyword, value in node.items():
        if keyword in MAPS and (named := as_object(value)) is not None:
            yield from ((f"/{keyword}/{escape(name)}", inner) for name, inner in named.items())
        elif (listed := as_list(value)) is not None and (keyword in LISTS or keyword == "items"):
            yield from ((f"/{keyword}/{place}", inner) for place, inner in enumerate(listed))
        elif keyword in SINGLES:
            yield f"/{keyword}", value


def escape(token: str) -> str:
    """``token`` as it is written in a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def tokens(pointer: str) -> list[str]:
    """The tokens of a JSON pointer (RFC 6901)."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def types(node: Schema) -> list[str]:
    """The types that ``node`` names, as a list."""
    named = node.get("type")
    return (
        [named]
        if isinstance(named, str)
        else [kind for kind in as_list(named) or [] if isinstance(kind, str)]
    )


def _rewrite(node: Schema, pointer: str, visit: Visit, note: Note, skip: frozenset[str]) -> Schema:
    done: Schema = {}
    for keyword, value in node.items():
        where = f"{pointer}/{escape(keyword)}"
        if keyword in skip:
            done[keyword] = value
        elif keyword in MAPS and (named := as_object(value)) is not None:
            done[keyword] = {
                name: _inner(inner, f"{where}/{escape(name)}", visit, note, skip)
                for name, inner in named.items()
            }
        elif (listed := as_list(value)) is not None and (keyword in LISTS or keyword == "items"):
            done[keyword] = [
                _inner(inner, f"{where}/{place}", visit, note, skip) for place, inner in enumerate(listed)
            ]
        elif keyword in SINGLES:
            done[keyword] = _inner(value, where, visit, note, skip)
        else:
            done[keyword] = value
    return visit(done, pointer, note)


def _inner(value: Any, pointer: str, visit: Visit, note: Note, skip: frozenset[str]) -> Any:
    node = as_object(value)
    return value if node is None else _rewrite(node, pointer, visit, note, skip)
