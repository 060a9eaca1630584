"""The result is given several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....parts.step import StepConfig
from ....schema.records import key

if TYPE_CHECKING:
    from ....calls.context import Context
    from ..step import Step, StepInputs

ORDER = 65


class Config(StepConfig):
    """How many times the result is given, as a list."""

    times: int = key("The number of times.", least=1, most=9)


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools with the key ``repeat``."""
    times = Config.of(inputs.tool.config).times

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        return [await following(arguments, context)] * times

    return step
