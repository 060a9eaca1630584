"""Tools in the system prompt and calls in the text, for models without native tool calling.

The messages are Chat Completions; ``get_format("prompt:ollama")`` is the same over another format's messages.
That format is imported when one of the names is first asked for: every turn needs a part of this package.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .prompted import Prompted

_NAMES = (
    "BUILTINS",
    "losses",
    "parse_error",
    "parse_reply",
    "parse_stream",
    "render_request",
    "render_tools",
    "restore",
)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(_format(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _format() -> Prompted:
    from .. import openai
    from .prompted import Prompted

    return Prompted(openai, "openai")
