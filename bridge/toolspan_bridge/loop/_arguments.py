"""Validates arguments against the tool's original schema, with messages for the model that sent them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolspan_server.schema.json_schema_faults import ARGUMENTS, faults_of, limited

from ..messages import ToolSpec

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

MAX_VISITS = 20_000
MAX_FAULTS_LOOKED_AT = 20_000
"""The most values of a schema times values of the arguments: an upper bound for the number of faults."""
MAX_MATCHED = 50_000
"""The longest arguments, as text, that are matched with a schema's patterns."""
_NOT_VISITED = ("$defs", "definitions")


class Checker:
    """Compiles each tool's schema once, and again when it changed.

    An invalid schema, one with external references, and a check that would take too long are left to the
    server.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Known] = {}

    def faults(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> list[str]:
        """The faults of ``arguments``, each once; at most 20, and the number of the others."""
        known = self._known.get(spec.key)
        if known is None or known.schema != spec.schema:
            known = self._known[spec.key] = _Known(spec.schema, _compile(spec.schema), _values(spec.schema))
        given = dict(arguments)
        if known.validator is None or _is_too_much(known, given) or known.validator.is_valid(given):
            return []
        defaulted = _defaulted(spec.schema)
        found = (
            fault
            for error in known.validator.iter_errors(given)
            for fault in _worded(error, cast("Any", error.kind), defaulted)
        )
        return limited(found)


def no_faults(spec: ToolSpec, arguments: Mapping[str, Any]) -> list[str]:
    """None, whatever the arguments: for a tool that is to answer all by itself."""
    del spec, arguments
    return []


class _Known(NamedTuple):
    schema: Mapping[str, Any]
    validator: Validator | None
    size: int


def _is_too_much(known: _Known, arguments: dict[str, Any]) -> bool:
    """Whether a check, which blocks the event loop, might take too long: the library collects every fault of
    every alternative, and matches patterns.
    """
    return known.size * _values(arguments) > MAX_FAULTS_LOOKED_AT or (
        "pattern" in str(known.schema) and len(str(arguments)) > MAX_MATCHED
    )


def _values(value: Any) -> int:
    """The number of values in ``value``, itself included."""
    found, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        found += 1
        if isinstance(one, Mapping):
            waiting += cast("Mapping[str, Any]", one).values()
        elif isinstance(one, list):
            waiting += cast("Any", one)
    return found


def _compile(schema: Mapping[str, Any]) -> Validator | None:
    import jsonschema_rs

    if _visits(schema) > MAX_VISITS:
        return None
    for options in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)):
        try:
            return jsonschema_rs.validator_for(
                dict(schema), validate_formats=True, offline=True, pattern_options=options
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            continue
    return None


def _visits(schema: Mapping[str, Any]) -> int:
    """How many subschemas a validator may visit for one value: references that fan out multiply."""
    known: dict[str, int] = {}

    def cost(node: Any) -> int:
        if isinstance(node, list):
            return sum(cost(item) for item in cast("Iterable[Any]", node))
        if not isinstance(node, dict):
            return 0
        entries = cast("dict[str, Any]", node)
        reference = entries.get("$ref")
        followed = refer(reference) if isinstance(reference, str) else 0
        return 1 + followed + sum(cost(item) for key, item in entries.items() if key not in _NOT_VISITED)

    def refer(pointer: str) -> int:
        if pointer not in known:
            known[pointer] = 1
            known[pointer] = min(cost(_target(schema, pointer)), MAX_VISITS + 1)
        return known[pointer]

    try:
        return cost(dict(schema))
    except RecursionError:
        return MAX_VISITS + 1


def _target(schema: Mapping[str, Any], pointer: str) -> Any:
    node: Any = schema
    for part in pointer.removeprefix("#").strip("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if key:
            node = cast("dict[str, Any]", node).get(key) if isinstance(node, dict) else None
    return node


def _defaulted(schema: Mapping[str, Any]) -> set[str]:
    """The parameters that the server fills in when they are missing."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return set()
    known = cast("dict[str, Any]", properties)
    return {
        name for name, described in known.items() if isinstance(described, dict) and "default" in described
    }


def _worded(error: ValidationError, kind: Any, defaulted: set[str]) -> Iterable[str]:
    if kind.name == "required" and not error.instance_path and kind.property in defaulted:
        return ()
    return faults_of(error, ARGUMENTS)
