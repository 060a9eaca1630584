"""Parameters: a tool's JSON Schema compiled, and arguments held to it."""

from __future__ import annotations

from ...schema.json_schema_faults import ValueNames, fault_messages, type_name
from ._accept import MAX_BYTES, MAX_VALUES, Parameters
from ._check import Check
from ._compile import compile_parts, compile_schema
from ._compile_cost import TooExpensive
from ._costs import Costs, count
from ._known_parameters import known_parameters
from ._normalise import finisher
from ._simple_schemas import is_certain
from ._simple_values import certain_fit

__all__ = [
    "MAX_BYTES",
    "MAX_VALUES",
    "Check",
    "Costs",
    "Parameters",
    "TooExpensive",
    "ValueNames",
    "certain_fit",
    "compile_parts",
    "compile_schema",
    "count",
    "fault_messages",
    "finisher",
    "is_certain",
    "known_parameters",
    "type_name",
]
