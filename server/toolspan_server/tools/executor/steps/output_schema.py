"""Validates the result, as it will be sent, against the output schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....calls.content import ABSENT, Content
from ....calls.context import Context
from ....engines.parameters import Check, ValueNames, type_name
from ....errors import ToolFailure
from ..step import Step, StepInputs

ORDER = 60

_VALUE_NAMES = ValueNames(whole="the result", member="key")
_FIX = "Report it to the maintainer of the tool: results must fit its output_schema and limits.result_bytes."


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools with the key ``output_schema``."""
    schema = inputs.tool.config.output_schema
    assert schema is not None
    return fitting(following, schema)


def fitting(following: Step, schema: Mapping[str, Any]) -> Step:
    """Pass on only results of ``following`` that fit ``schema``, a checked JSON Schema of an object.

    Any other is a ``ToolFailure`` with the code ``invalid_result`` that names each wrong field. Of content
    blocks, the structured content is validated (MCP 2026-07-28, server/tools, Output Schema).
    """

    check = Check(schema, _VALUE_NAMES)

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        result = await following(arguments, context)
        value = result.structured if isinstance(result, Content) else result
        if not isinstance(value, dict):
            given = "content without structured data" if value is ABSENT else type_name(value)
            raise _invalid([f"must be an object (got {given})"])
        if faults := check.faults(value):
            raise _invalid(faults)
        return result

    return step


def _invalid(faults: list[str]) -> ToolFailure:
    message = "The tool gave an invalid result: " + ", ".join(faults)
    return ToolFailure(message, error_code="invalid_result", user_action=_FIX)
