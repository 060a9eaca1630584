"""References replaced by what they refer to, recursion cut after a few levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...json_values import as_list, as_object, text
from .._refs import (
    definition,
    prune,
    recursive,
    refs_in,
    resolve,
)
from .._walk import (
    LISTS,
    MAPS,
    SINGLES,
    Change,
    Conditional,
    Note,
    Schema,
    Step,
    escape,
    everywhere,
    subschemas,
    types,
)

_MAX_LEVELS = 3
_MAX_MORE = 500
_MAX_DEPTH = 64
_ANNOTATIONS = frozenset({"default", "deprecated", "description", "examples", "title"})


def _inline(schema: Schema) -> tuple[Schema, list[Change]]:
    return _inlined(schema, frozenset(refs_in(schema)))


def _inline_awkward(schema: Schema) -> tuple[Schema, list[Change]]:
    awkward = any(
        "allOf" in node or ("$ref" in node and any(not key.startswith("$") for key in node))
        for _, node in subschemas(schema)
    )
    return _inline(schema) if awkward else _inlined(schema, recursive(schema))


def _inline_siblings(schema: Schema) -> tuple[Schema, list[Change]]:
    beside = {node["$ref"] for _, node in subschemas(schema) if "$ref" in node and len(node) > 1}
    near = set(refs_in(schema)) if any("allOf" in node for _, node in subschemas(schema)) else set[str]()
    inlined, changes = _inlined(schema, frozenset(beside | near) - recursive(schema))
    return _annotated(inlined)[0], changes


def _annotate(node: Schema, pointer: str, note: Note) -> Schema:
    if "$ref" not in node or not (beside := node.keys() - {"$ref"}) or not beside <= _ANNOTATIONS:
        return node
    return {**{key: node[key] for key in node if key != "$ref"}, "anyOf": [{"$ref": node["$ref"]}]}


_annotated: Step = everywhere(_annotate)


def _refers(inside: Sequence[Schema]) -> bool:
    return "$defs" in inside[0] or any("$ref" in node for node in inside)


inline: Step = Conditional(_inline, _refers)
"""Without references. Grown by 500 subschemas, it gets fewer levels of recursion, then is cut."""

inline_awkward: Step = Conditional(_inline_awkward, _refers)
"""Without recursive references; without any where one has keywords beside it, or near an ``allOf``."""

inline_siblings: Step = Conditional(_inline_siblings, _refers)
"""Without references that have keywords beside them, or that stand near an ``allOf``; others are kept.

One that leads back to itself cannot be inlined: descriptions beside it are kept around an ``anyOf``.
"""


def _inlined(schema: Schema, refs: frozenset[str]) -> tuple[Schema, list[Change]]:
    limit = _MAX_MORE + sum(1 for _ in subschemas(schema))
    for levels in range(_MAX_LEVELS, 0, -1):
        run = _Inliner(schema, refs, levels, limit)
        inlined = run.root()
        if run.nodes <= limit or levels == 1:
            return prune(inlined)[0], run.changes
    raise AssertionError("the last level always returns")


@dataclass
class _Inliner:
    schema: Schema
    refs: frozenset[str]
    levels: int
    limit: int
    nodes: int = 0
    changes: list[Change] = field(default_factory=list[Change])

    def root(self) -> Schema:
        body = {key: value for key, value in self.schema.items() if key != "$defs"}
        inlined = self._node(body, "", ())
        definitions = as_object(self.schema.get("$defs")) or {}
        kept = {name: inner for name, inner in definitions.items() if definition(name) not in self.refs}
        if kept:
            inlined["$defs"] = {
                name: self._any(inner, f"/$defs/{escape(name)}", ()) for name, inner in kept.items()
            }
        return inlined

    def _any(self, value: Any, pointer: str, stack: tuple[str, ...]) -> Any:
        node = as_object(value)
        return value if node is None else self._node(node, pointer, stack)

    def _node(self, node: Schema, pointer: str, stack: tuple[str, ...]) -> Schema:
        self.nodes += 1
        ref = text(node.get("$ref"))
        if ref in self.refs:
            return self._follow(node, ref, pointer, stack)
        done: Schema = {}
        for key, value in node.items():
            where = f"{pointer}/{escape(key)}"
            if key in MAPS and (named := as_object(value)) is not None:
                done[key] = {n: self._any(i, f"{where}/{escape(n)}", stack) for n, i in named.items()}
            elif key in LISTS and (listed := as_list(value)) is not None:
                done[key] = [self._any(i, f"{where}/{n}", stack) for n, i in enumerate(listed)]
            else:
                done[key] = self._any(value, where, stack) if key in SINGLES else value
        return done

    def _follow(self, node: Schema, ref: str, pointer: str, stack: tuple[str, ...]) -> Schema:
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        target = resolve(self.schema, ref)
        too_deep = max(len(stack), pointer.count("/")) > _MAX_DEPTH
        if too_deep or self.nodes > self.limit or stack.count(ref) >= self.levels:
            return self._cut(siblings, target, pointer)
        target = {key: value for key, value in target.items() if key != "$defs"}
        target |= {key: siblings.pop(key) for key in sorted(_ANNOTATIONS & siblings.keys())}
        if siblings:
            target = (
                {"allOf": [target, siblings]} if siblings.keys() & target.keys() else {**target, **siblings}
            )
        return self._node(target, pointer, (*stack, ref))

    def _cut(self, siblings: Schema, target: Schema, pointer: str) -> Schema:
        kind = next(iter(types(target)), "object")
        self.changes.append(Change(pointer, "recursion", f"any {kind}, described as the same shape again"))
        known = text(siblings.get("description")) or text(target.get("description"))
        return {"type": kind, "description": " ".join(filter(None, (known, "The same shape again.")))}
