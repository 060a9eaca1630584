"""What a schema costs before any value is seen: found on the schema alone, before a validator is made of it.

A validator cannot be ended, keeps the interpreter's lock, and works recursively in C. Twenty-four definitions
of two references each, one to the next, make it do 16 million steps; 30,000 in a row overflow its stack,
which ends the process; ``unevaluatedProperties`` asks everything beside it again, at each level.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ._schema_access import Schema, is_object, listed, members
from ._subschemas import anchors_of, parts_of, target_of

AT_ONE_VALUE = 5_000
"""How many schemas may apply to one value."""
IN_A_ROW = 200
"""How many schemas may lead to each other for one value; a reference back to itself is endless."""
MAX_REFERENCES = 2_500
"""The compiler looks for each reference among all others: 30,000 of them take it ten seconds."""
MAX_SCHEMAS = 25_000
"""How many schemas there may be, and again in all that is referred to: 60,000 take more than a second."""
MAX_PIECES = 50_000
"""How many references times schemas there may be where each schema is compiled alone: 600,000 take 5 s."""
MAX_IN_PATTERNS = 25_000
"""The characters of all patterns: 1,000 take 12 ms."""

_IN_PLACE = ("not", "if", "then", "else")
_LISTS = ("allOf", "anyOf", "oneOf")
_DEFINED = ("$defs", "definitions")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ASKING_AGAIN = 3
"""How often what stands beside ``unevaluated…`` is asked, measured from above."""


class TooExpensive(ValueError):
    """A validator of the schema would take too many steps, or cannot be bounded. The message says why."""


class References:
    """Where the references of the document ``root`` lead, in the words of any draft."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._bases = ["", root.get("$id"), root.get("id")]
        self._known: dict[str, Any] = {}

    @cached_property
    def parts(self) -> list[Schema]:
        """``root``, the schemas inside it, and those elsewhere in the document that they refer to.

        Raises ``TooExpensive`` when they are too many, or a reference leads out of the document.
        """
        found: dict[int, Schema] = {}
        waiting: list[Any] = [self._root]
        while waiting:
            part = waiting.pop()
            if not is_object(part) or id(part) in found:
                continue
            found[id(part)] = part
            if len(found) > MAX_SCHEMAS:
                raise TooExpensive(f"more than {MAX_SCHEMAS:,} schemas")
            waiting += all_parts(part)
            waiting += (self.target(reference) for _, reference in references_of(part))
            if len(self._known) > MAX_REFERENCES:
                raise TooExpensive(f"more than {MAX_REFERENCES:,} different references")
        return list(found.values())

    def check(self) -> None:
        """Raise ``TooExpensive`` where the compiler would read too much of the document again."""
        sizes = _Sizes()
        _ = self.parts
        if sum(map(sizes.of, self._known.values())) > MAX_SCHEMAS:
            raise TooExpensive(f"more than {MAX_SCHEMAS:,} schemas in all that is referred to")

    def check_pieces(self) -> None:
        """Raise ``TooExpensive`` where too much would be compiled again for each part."""
        schemas = len(self.parts)
        if len(self._known) * schemas > MAX_PIECES:
            raise TooExpensive(f"{len(self._known):,} references in {schemas:,} schemas")

    @cached_property
    def recursive(self) -> frozenset[int]:
        """The ids of the schemas that are inside themselves by references to them alone: the validator looks
        at such a one once for each value."""
        parts = {id(part): part for part in self.parts}
        targets = {id(target): target for target in self._known.values() if id(target) in parts}
        leading = {each: self._leading_to(target) for each, target in targets.items()}

        def returns(start: int) -> bool:
            seen, waiting = {start}, [each for each in leading[start] if each != start]
            while waiting:
                each = waiting.pop()
                if start in leading.get(each, ()):
                    return True
                if each not in seen:
                    seen.add(each)
                    waiting += leading.get(each, ())
            return False

        return frozenset(each for each, inner in leading.items() if each in inner and not returns(each))

    def _leading_to(self, schema: Any) -> set[int]:
        """The ids of what is referred to in ``schema``, its definitions left out."""
        found: set[int] = set()
        waiting: list[Any] = [schema]
        while waiting:
            part = waiting.pop()
            if is_object(part):
                found.update(map(id, self.followed(part)))
                waiting += inside(part)
        return found

    def followed(self, schema: Schema) -> Iterator[Any]:
        """What the references of ``schema`` itself lead to; a dynamic one to all that it may mean."""
        for keyword, reference in references_of(schema):
            named = self._dynamic.get(reference.rpartition("#")[2]) if keyword == "$dynamicRef" else None
            yield from named or [self.target(reference)]

    def target(self, reference: str) -> Any:
        """What is at ``reference``. Raises ``TooExpensive`` where that is not in the document."""
        if reference not in self._known:
            document, _, fragment = reference.partition("#")
            inside = document in self._bases and not self._has_documents
            found = target_of(self._root, f"#{fragment}", self._anchors) if inside else None
            if found is None:
                raise TooExpensive(f"{reference[:200]!r} does not refer to a schema in this one")
            self._known[reference] = found
        return self._known[reference]

    @cached_property
    def _inside(self) -> list[Schema]:
        found: list[Schema] = []
        waiting: list[Any] = [self._root]
        while waiting:
            part = waiting.pop()
            if is_object(part):
                found.append(part)
                waiting += all_parts(part)
        return found

    @cached_property
    def _anchors(self) -> dict[str, Any]:
        return anchors_of([((), part) for part in self._inside])

    @cached_property
    def _dynamic(self) -> dict[str, list[Schema]]:
        named: dict[str, list[Schema]] = {}
        for part in self._inside:
            if isinstance(name := part.get("$dynamicAnchor"), str):
                named.setdefault(name, []).append(part)
        return named

    @cached_property
    def _has_documents(self) -> bool:
        """Whether a schema inside has an ``$id``, which changes what references mean."""
        keyword = "id" if "draft-04" in str(self._root.get("$schema")) else "$id"
        return any(isinstance(part.get(keyword), str) for part in self._inside[1:])


def check_compilable(root: Schema) -> None:
    """Raise ``TooExpensive`` where a validator of ``root`` could not be made in bounded time, or would apply
    too many schemas to any one value."""
    try:
        references = References(root)
        references.check()
        in_place = _InPlace(references)
        for part in references.parts:
            in_place.count(part, 1)
    except RecursionError:
        raise _too_long() from None
    if sum(len(pattern) for part in references.parts for pattern in patterns_of(part)) > MAX_IN_PATTERNS:
        raise TooExpensive(f"more than {MAX_IN_PATTERNS:,} characters of patterns")


def check_pieces(root: Schema) -> None:
    """Raise ``TooExpensive`` where a validator of each part of ``root`` could not be made in bounded time."""
    references = References(root)
    references.check()
    references.check_pieces()


def all_parts(schema: Schema) -> Iterator[Any]:
    """Each schema directly inside ``schema``, by the keywords of older drafts too."""
    yield from (part for _, part in parts_of(schema))
    yield from members(schema, "dependencies").values()
    yield from listed(schema, "items")
    if "additionalItems" in schema:
        yield schema["additionalItems"]


def inside(schema: Schema) -> Iterator[Any]:
    """``all_parts`` that apply to something, which definitions do not."""
    yield from all_parts({key: value for key, value in schema.items() if key not in _DEFINED})


def references_of(schema: Schema) -> Iterator[tuple[str, str]]:
    """The references that ``schema`` itself has, each with its keyword."""
    for keyword in _REFERENCES:
        if isinstance(reference := schema.get(keyword), str):
            yield keyword, reference


def patterns_of(schema: Schema) -> Iterator[str]:
    """The regular expressions that ``schema`` itself has."""
    if isinstance(pattern := schema.get("pattern"), str):
        yield pattern
    yield from map(str, members(schema, "patternProperties"))


def followers(schema: Schema, references: References) -> Iterator[Any]:
    """The schemas that apply to the same value as ``schema``."""
    yield from (schema[keyword] for keyword in _IN_PLACE if keyword in schema)
    for keyword in _LISTS:
        yield from listed(schema, keyword)
    for keyword in ("dependentSchemas", "dependencies"):
        yield from members(schema, keyword).values()
    yield from references.followed(schema)


def times_asked(schema: Schema) -> int:
    """How often what applies beside ``schema`` is asked."""
    return _ASKING_AGAIN if "unevaluatedProperties" in schema or "unevaluatedItems" in schema else 1


class _Sizes:
    """How many schemas there are in a schema, references not followed."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, schema: Any) -> int:
        if not is_object(schema):
            return 1
        if (known := self._known.get(id(schema))) is None:
            known = self._known[id(schema)] = 1 + sum(map(self.of, all_parts(schema)))
        return known


class _InPlace:
    """How many schemas apply to a value when one does."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._known: dict[int, tuple[int, int]] = {}

    def count(self, schema: Any, row: int) -> tuple[int, int]:
        """How many, and how many in a row. Raises ``TooExpensive`` where that is too many."""
        if not is_object(schema):
            return 1, 1
        if (known := self._known.get(id(schema))) is None:
            if row > IN_A_ROW:
                raise _too_long()
            counted = [self.count(part, row + 1) for part in followers(schema, self._references)]
            total = 1 + times_asked(schema) * sum(count for count, _ in counted)
            known = self._known[id(schema)] = total, 1 + max((longest for _, longest in counted), default=0)
        total, longest = known
        if row + longest > IN_A_ROW + 1:
            raise _too_long()
        if total > AT_ONE_VALUE:
            raise TooExpensive(f"more than {AT_ONE_VALUE:,} schemas apply to one value")
        return known


def _too_long() -> TooExpensive:
    return TooExpensive(f"more than {IN_A_ROW} schemas in a row, or one that leads back to itself")
