"""``allOf`` merged into one schema: what holds for all of its branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...json_values import as_list, as_object, compact
from .._walk import (
    Note,
    Schema,
    Step,
    escape,
    everywhere,
    types,
    using,
)

Report = Callable[[str, str], None]
"""Takes the pointer within the schema, and what could not be merged."""

_LOWER = frozenset({"exclusiveMinimum", "minItems", "minLength", "minProperties", "minimum", "minContains"})
_UPPER = frozenset({"exclusiveMaximum", "maxItems", "maxLength", "maxProperties", "maximum", "maxContains"})
_NAMED = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
_ONE = frozenset({"additionalProperties", "contains", "items", "propertyNames", "unevaluatedProperties"})
_FIRST = frozenset({"default", "deprecated", "examples", "readOnly", "title", "writeOnly"})


def merge(first: Schema, second: Schema, report: Report, pointer: str = "") -> Schema:
    """A schema for what both allow. Where that cannot be expressed, the first is used, reported."""
    merged = dict(first)
    for keyword, value in second.items():
        if keyword not in merged or merged[keyword] == value:
            merged[keyword] = value
        else:
            merged[keyword] = _both(keyword, merged[keyword], value, report, f"{pointer}/{escape(keyword)}")
    return merged


def _both(keyword: str, ours: Any, theirs: Any, report: Report, pointer: str) -> Any:
    if keyword in _LOWER or keyword in _UPPER:
        return max(ours, theirs) if keyword in _LOWER else min(ours, theirs)
    if keyword in _NAMED:
        return _named(as_object(ours) or {}, as_object(theirs) or {}, report, pointer)
    if keyword in _ONE:
        return _single(ours, theirs, report, pointer)
    if keyword in ("required", "allOf"):
        return list(ours) + [entry for entry in theirs if entry not in ours]
    if keyword == "description":
        return f"{ours} {theirs}"
    if keyword == "type":
        common = _types(types({"type": ours}), types({"type": theirs}))
    elif keyword == "enum":
        common = [value for value in as_list(ours) or [] if value in (as_list(theirs) or [])]
    else:
        common = None
    if common:
        return common[0] if keyword == "type" and len(common) == 1 else common
    if keyword not in _FIRST:
        report(pointer, f"{keyword} {compact(theirs)[:200]}")
    return ours


def _types(ours: list[str], theirs: list[str]) -> list[str]:
    common = [kind for kind in ours if kind in theirs or (kind == "integer" and "number" in theirs)]
    narrowed = ["integer"] if "number" in ours and "integer" in theirs and "integer" not in ours else []
    return [kind for kind in common if not (kind == "number" and narrowed)] + narrowed


def _named(ours: Schema, theirs: Schema, report: Report, pointer: str) -> Schema:
    merged = dict(ours)
    for name, inner in theirs.items():
        known = name in merged
        merged[name] = _single(merged[name], inner, report, f"{pointer}/{escape(name)}") if known else inner
    return merged


def _single(ours: Any, theirs: Any, report: Report, pointer: str) -> Any:
    left, right = as_object(ours), as_object(theirs)
    if left is not None and right is not None:
        return merge(left, right, report, pointer)
    if False in (ours, theirs):
        return False
    return theirs if ours is True else ours


def _visit(node: Schema, pointer: str, note: Note) -> Schema:
    branches = as_list(node.get("allOf"))
    if branches is None:
        return node
    merged = {key: value for key, value in node.items() if key != "allOf"}
    lost: list[str] = []

    def report(where: str, what: str) -> None:
        lost.append(what)
        note(pointer + where, "all-of", f"the first branch's word stands; described: {what}")

    for branch in branches:
        merged = merge(merged, as_object(branch) or {}, report)
    if lost:
        sentence = f"Also: {'; '.join(lost)}."
        merged["description"] = " ".join(filter(None, (merged.get("description"), sentence)))
    return merged


merge_all_of: Step = everywhere(_visit, where=using("allOf"))
"""Without ``allOf``. References in its branches must have been inlined before."""
