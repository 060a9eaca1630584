"""The executor: runs a tool by name and always ends in a tool result.

A call goes through the modules of ``steps`` from the outside in, and its result back, in the order that each
says for itself; ``docs/reference/parts.md`` has the list, generated from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._concurrency_limits import ConcurrencyLimits
    from ._execute import Executor

__all__ = ["ConcurrencyLimits", "Executor"]


def __getattr__(name: str) -> Any:
    """The executor is imported when it is first asked for: a config looks only at steps that declare keys."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _concurrency_limits, _execute

    globals().update(Executor=_execute.Executor, ConcurrencyLimits=_concurrency_limits.ConcurrencyLimits)
    return globals()[name]
