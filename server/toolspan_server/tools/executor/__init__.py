"""The executor: runs a tool by name and always returns a tool result.

A call passes the modules of ``steps`` from the outermost in, and its result back out, in the ``ORDER`` that
each declares; the list in ``docs/reference/parts.md`` is generated from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._concurrency_limits import ConcurrencyLimits
    from ._execute import Executor

__all__ = ["ConcurrencyLimits", "Executor"]


def __getattr__(name: str) -> Any:
    """Import the executor when it is first used: loading a config needs only the steps that declare keys."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _concurrency_limits, _execute

    globals().update(Executor=_execute.Executor, ConcurrencyLimits=_concurrency_limits.ConcurrencyLimits)
    return globals()[name]
