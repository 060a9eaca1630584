"""What a step is: a function around the kind of a tool, or around another step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...calls.context import Context

if TYPE_CHECKING:
    from ...calls.slots import CallSlot
    from ..registry import Tool
    from ._concurrency_limits import Shares

Step = Callable[[dict[str, Any], Context], Coroutine[Any, Any, Any]]
"""From a tool's arguments to its result."""


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a step can be built from: the tool, and what all calls have in common.

    ``redact`` takes secrets out of a text. ``place`` gives the call's place among those that run. ``kept``
    outlives a change of the config: a step keeps there, under its own name, what has to go on.
    """

    tool: Tool
    max_result_bytes: int
    answer_seconds: float
    redact: Callable[[str], str] | None
    shares: Shares
    place: Callable[[], CallSlot]
    kept: MutableMapping[str, Any]


class StepModule(Protocol):
    """What a module of ``steps`` offers. A step with a lower ``ORDER`` is around those with higher ones."""

    ORDER: int

    def build(self, following: Step, inputs: StepInputs, /) -> Step:
        """The step around ``following``; ``following`` itself where the tool does not need the step."""
        ...
