"""Refuses a call that would run in another way than the client has shown to the person."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ..step import Step, StepInputs

ORDER = 25


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools whose own code says what a person is shown."""
    tool = inputs.tool
    if not tool.has_preview:
        return following
    from ....engines.definitions.call_preview import SHOWN_META
    from .._previews import changed_since_shown, preview_of

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        shown = None if context.depth else context.meta.get(SHOWN_META)
        if shown and (await preview_of(tool, arguments, context)).digest != shown:
            raise changed_since_shown()
        return await following(arguments, context)

    return step
