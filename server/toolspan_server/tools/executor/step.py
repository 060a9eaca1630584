"""The interface of a step: a function that wraps the kind of a tool, or another step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...calls.context import Context

if TYPE_CHECKING:
    from ...calls.slots import CallSlot
    from ..registry import Tool
    from ._concurrency_limits import ConcurrencyLimiters

Step = Callable[[dict[str, Any], Context], Coroutine[Any, Any, Any]]
"""An async function from a tool's arguments and context to its result."""


@dataclass(frozen=True, slots=True)
class StepInputs:
    """The inputs that a step is built from: the tool, and what all calls have in common.

    ``redact`` removes secrets from a text, ``call_slot`` returns the slot of a running call. ``kept``
    survives a change of the config: a step stores there, under its own name, the state that must persist.
    """

    tool: Tool
    max_result_bytes: int
    answer_seconds: float
    redact: Callable[[str], str] | None
    limiters: ConcurrencyLimiters
    call_slot: Callable[[], CallSlot]
    kept: MutableMapping[str, Any]


class StepModule(Protocol):
    """The interface of a module of ``steps``. A step with a lower ``ORDER`` wraps those with higher ones."""

    ORDER: int

    def build(self, following: Step, inputs: StepInputs, /) -> Step:
        """The step around ``following``; ``following`` itself when the tool does not need the step."""
        ...
