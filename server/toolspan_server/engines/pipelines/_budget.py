"""How many calls a pipeline may make, those of pipelines inside it too."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ...errors import ToolFailure


class CallBudget:
    """At most ``most`` calls; those inside count for ``outer`` as well."""

    def __init__(self, most: int, outer: CallBudget | None) -> None:
        self._most = most
        self._left = most
        self._outer = outer

    def spend(self, calls: int) -> None:
        """Take ``calls``, or none. Raises ``ToolFailure`` when fewer are left."""
        if calls > self._left:
            raise ToolFailure(
                f"it needs {calls:,} more calls, and the pipeline may make {self._most:,} in all (max_calls)",
                error_code="too_many_calls",
                user_action="Ask for less at once, or raise max_calls in the config.",
            )
        if self._outer is not None:
            self._outer.spend(calls)
        self._left -= calls


_current: ContextVar[CallBudget | None] = ContextVar("toolspan_pipeline_calls", default=None)


@contextmanager
def budget(most: int) -> Generator[CallBudget]:
    """The budget of a pipeline's call, within that of the pipeline that called it."""
    made = CallBudget(most, _current.get())
    token = _current.set(made)
    try:
        yield made
    finally:
        _current.reset(token)
