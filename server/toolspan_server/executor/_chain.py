"""The steps around a kind. Each is one idea, wraps the next, and is composed once per tool."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from ..context import Context

Step = Callable[[dict[str, Any], Context], Coroutine[Any, Any, Any]]
