"""The wrapper in which OpenAI's models sometimes write several calls as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..shared.json_values import objects, text
from ..shared.replies.parse import WireCall, read_arguments

_WRAPPERS = frozenset({"multi_tool_use.parallel", "multi_tool_use_parallel"})
_PREFIX = "functions."


def unwrapped(calls: Sequence[WireCall]) -> list[WireCall]:
    """``calls``, a wrapper among them replaced by the calls that it holds."""
    return [inner for call in calls for inner in _inside(call)]


def _inside(call: WireCall) -> Iterator[WireCall]:
    held = _held(call) if text(call.name) in _WRAPPERS else []
    if not held:
        yield call
    for use in held:
        yield WireCall(None, text(use["recipient_name"]).removeprefix(_PREFIX), use.get("parameters"))


def _held(call: WireCall) -> list[dict[str, Any]]:
    """The calls in a wrapper; none when one of them cannot be read."""
    arguments, _ = read_arguments(call.arguments)
    uses = objects((arguments or {}).get("tool_uses"))
    return uses if all(text(use.get("recipient_name")) for use in uses) else []
