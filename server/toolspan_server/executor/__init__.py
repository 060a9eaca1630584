"""The executor: runs a tool by name and always ends in a tool result."""

from __future__ import annotations

from ._execute import Executor

__all__ = ["Executor"]
