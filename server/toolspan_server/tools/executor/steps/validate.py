"""The validation step."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from ....calls.context import Context
from ....engines.parameters import Parameters
from ..step import Step


def validated(following: Step, parameters: Parameters) -> Step:
    """Hold the arguments to the tool's schema before ``following``; raises ``InvalidParameters``."""

    def step(arguments: dict[str, Any], context: Context) -> Coroutine[Any, Any, Any]:
        return following(parameters.accept(arguments), context)

    return step
