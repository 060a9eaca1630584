"""Composes the steps around a kind, once per tool; each step wraps the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...parts.step import STEPS
from .step import Step, StepInputs, StepModule

if TYPE_CHECKING:
    from ..registry import Tool


def composed(inputs: StepInputs) -> Step:
    """The whole chain of a tool's call; steps that the tool's config does not ask for are not imported."""
    step: Step = inputs.tool.kind.call
    for module in sorted(_modules(inputs.tool), key=lambda module: module.ORDER, reverse=True):
        step = module.build(step, inputs)
    return step


def _modules(tool: Tool) -> list[StepModule]:
    """The steps that ``tool`` asks for by the key of the same name, and those without such a key."""
    keys = type(tool.config).model_fields
    asked = (name for name in STEPS.names if name not in keys or getattr(tool.config, name) is not None)
    return [cast("StepModule", STEPS.module(name)) for name in asked]
