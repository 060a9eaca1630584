"""What a step is: a function around the kind of a tool, or around another step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from ...calls.context import Context

Step = Callable[[dict[str, Any], Context], Coroutine[Any, Any, Any]]
"""From a tool's arguments to its result."""
