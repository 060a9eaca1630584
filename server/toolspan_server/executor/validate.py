"""The validation step."""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..parameters import Parameters
from ._chain import Step


def validated(following: Step, parameters: Parameters) -> Step:
    """Hold the arguments to the tool's schema before ``following``; raises ``InvalidParameters``."""

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        return await following(parameters.accept(arguments), context)

    return step
