"""Validates arguments against the tool's original schema, with messages for the model that sent them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolspan_server.engines.parameters import Costs, compile_schema, count
from toolspan_server.schema.json_schema_faults import ARGUMENTS, faults_of, limited

from ..messages import ToolSpec

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

MAX_SCHEMA = 5_000
"""The values of the largest schema that is compiled here, which blocks the event loop."""
MAX_FAULTS_LOOKED_AT = 20_000
"""The most faults that a check may collect, measured from above."""
MAX_MATCHED = 50_000
"""The longest arguments, as text, that are matched with a schema's patterns."""


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
            known = self._known[spec.key] = _Known(spec.schema, _compile(spec.schema), Costs(spec.schema))
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
    costs: Costs


def _is_too_much(known: _Known, arguments: dict[str, Any]) -> bool:
    """Whether a check, which blocks the event loop, might take too long: the library collects every fault of
    every alternative, and matches patterns.
    """
    return (
        known.costs.most_faults(known.schema, arguments) > MAX_FAULTS_LOOKED_AT
        or ("pattern" in str(known.schema) and len(str(arguments)) > MAX_MATCHED)
        or known.costs.too_many(arguments)
    )


def _compile(schema: Mapping[str, Any]) -> Validator | None:
    import jsonschema_rs

    if count(schema) > MAX_SCHEMA:
        return None
    try:
        return compile_schema(dict(schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


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
