"""The executor: runs a tool by name and always returns a tool result.

A call passes the modules of ``steps`` from the outermost in, and its result back out, in the ``ORDER`` that
each declares; the list in ``docs/reference/parts.md`` is generated from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._concurrency_limits import ConcurrencyLimits
    from ._execute import Executor

__all__ = ["ConcurrencyLimits", "Executor"]

# Imported when first used: loading a config needs only the steps that declare keys.
_MODULES = {
    "ConcurrencyLimits": "._concurrency_limits",
    "Executor": "._execute",
}

if not TYPE_CHECKING:
    from ...common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
