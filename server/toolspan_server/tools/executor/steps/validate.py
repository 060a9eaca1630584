"""Validates the arguments against the parameters: the steps inside see only valid ones."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from ....calls.context import Context
from ....engines.parameters import Parameters
from ..step import Step, StepInputs

ORDER = 10


def build(following: Step, inputs: StepInputs) -> Step:
    """For every tool."""
    return validated(following, inputs.tool.parameters)


def validated(following: Step, parameters: Parameters) -> Step:
    """Validate the arguments against the tool's schema before ``following``; raises ``InvalidParameters``."""

    def step(arguments: dict[str, Any], context: Context) -> Coroutine[Any, Any, Any]:
        return following(parameters.accept(arguments), context)

    return step
