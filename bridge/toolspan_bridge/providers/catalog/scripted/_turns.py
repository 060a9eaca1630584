"""Turns of a script: read once, with what is wrong told by its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, get_args

from ....errors import (
    AuthError,
    BridgeError,
    ProviderError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from ....messages import Assistant, Reply, StopReason, ToolCall, Usage
from ....messages.deltas import Delta, ReasoningDelta, TextDelta
from ...wire.json_types import is_list, is_object

__all__ = ["RecordedTurn", "check_keys", "given", "mapping", "read_turn", "read_turns"]

_TURN = {
    "text",
    "pieces",
    "reasoning",
    "calls",
    "usage",
    "stop",
    "incomplete",
    "error",
    "after_ms",
    "silent",
}
_BROKE_OFF = "the script breaks off here"
_CALL = {"tool", "arguments", "id"}
_ERROR = {"kind", "message", "status"}
_USAGE = {"input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"}
_KINDS = {"auth", "unreachable", "unknown_model", "provider"}
_NOTHING = Reply(Assistant())


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn: the reply, and the deltas that a stream yields before its calls; or the ``error`` that is
    raised. It comes after ``wait`` seconds. A ``silent`` one never ends: of its stream only the deltas come.
    """

    reply: Reply = _NOTHING
    deltas: tuple[Delta, ...] = ()
    error: Callable[[], BridgeError] | None = None
    wait: float = 0.0
    silent: bool = False


def given(turn: Reply | BridgeError) -> RecordedTurn:
    """A turn that was written in code."""
    if isinstance(turn, BridgeError):
        return RecordedTurn(error=lambda: turn)
    return RecordedTurn(turn, (TextDelta(turn.message.text),) if turn.message.text else ())


def read_turns(turns: object, where: str) -> tuple[RecordedTurn, ...]:
    """The turns of a list at ``where``. Raises ``UsageError`` that says what is wrong with one, and where."""
    if not is_list(turns) or not turns:
        raise UsageError(f"{where}: must be a list with a turn or more")
    return tuple(read_turn(mapping(turn, f"{where}[{n}]"), f"{where}[{n}]") for n, turn in enumerate(turns))


def read_turn(turn: Mapping[str, Any], where: str) -> RecordedTurn:
    """The turn at ``where``. Raises ``UsageError`` that says what is wrong with it, and where."""
    check_keys(turn, _TURN, where)
    wait, silent = _wait(turn, where), _silent(turn, where)
    if "error" in turn:
        return RecordedTurn(
            error=_error(mapping(turn["error"], f"{where}.error"), f"{where}.error"), wait=wait
        )
    stop = turn.get("stop", "stop")
    if stop not in get_args(StopReason):
        raise UsageError(f"{where}.stop: {stop!r} is none of {', '.join(get_args(StopReason))}")
    calls = turn.get("calls", [])
    if not is_list(calls):
        raise UsageError(f"{where}: `calls` must be a list")
    deltas = _deltas_before_calls(turn, where)
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    read = tuple(_call(each, f"{where}.calls[{place}]") for place, each in enumerate(calls))
    usage = _usage(turn.get("usage", {}), f"{where}.usage")
    if turn.get("incomplete") is True:
        cut = Assistant(text, incomplete=True)
        broken = Reply(cut, "other", usage, read, incomplete=True, trouble=_BROKE_OFF)
        return RecordedTurn(broken, deltas, wait=wait)
    return RecordedTurn(Reply(Assistant(text, read), stop, usage), deltas, wait=wait, silent=silent)


def _wait(turn: Mapping[str, Any], where: str) -> float:
    after = turn.get("after_ms", 0)
    if isinstance(after, bool) or not isinstance(after, int | float) or not 0 <= after < inf:
        raise UsageError(f"{where}.after_ms: must be a number of milliseconds")
    return after / 1000


def _silent(turn: Mapping[str, Any], where: str) -> bool:
    silent = turn.get("silent", False)
    if not isinstance(silent, bool):
        raise UsageError(f"{where}.silent: must be true or false")
    return silent


def _deltas_before_calls(turn: Mapping[str, Any], where: str) -> tuple[TextDelta | ReasoningDelta, ...]:
    """The pieces of a turn: thoughts first, then its text."""
    reasoning, texts = turn.get("reasoning", ""), turn.get("pieces", [turn.get("text", "")])
    if not is_list(texts) or not all(isinstance(text, str) for text in (reasoning, *texts)):
        raise UsageError(f"{where}: `text` a string, `pieces` a list of strings, `reasoning` a string")
    if "pieces" in turn and "text" in turn:
        raise UsageError(f"{where}: write `text` or its `pieces`, not both")
    thoughts = (ReasoningDelta(reasoning),) if reasoning else ()
    return (*thoughts, *(TextDelta(text) for text in texts if text))


def _call(call: Any, where: str) -> ToolCall:
    found = mapping(call, where)
    check_keys(found, _CALL, where)
    tool, given = found.get("tool"), found.get("arguments", {})
    if not isinstance(tool, str):
        raise UsageError(f"{where}.tool: a tool's name is missing")
    if is_object(given):
        return ToolCall(str(found.get("id", "")), tool, given, json.dumps(given, default=str))
    if not isinstance(given, str):
        raise UsageError(f"{where}.arguments: must be an object, or text as a model would send it")
    arguments, malformed = _raw_arguments(given)
    return ToolCall(str(found.get("id", "")), tool, arguments, given, malformed)


def _raw_arguments(text: str) -> tuple[Mapping[str, Any] | None, str]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        return None, f"not JSON: {error}"
    if is_object(value):
        return value, ""
    return None, f"a JSON object is needed, not {type(value).__name__}"


def _error(error: Mapping[str, Any], where: str) -> Callable[[], BridgeError]:
    check_keys(error, _ERROR, where)
    kind, message, status = error.get("kind", "provider"), str(error.get("message", "")), error.get("status")
    if kind not in _KINDS:
        raise UsageError(f"{where}.kind: {kind!r} is none of {', '.join(sorted(_KINDS))}")
    if status is not None and not isinstance(status, int):
        raise UsageError(f"{where}.status: must be an HTTP status such as 529")
    match kind:
        case "auth":
            return partial(AuthError, message)
        case "unreachable":
            return partial(UnreachableError, message)
        case "unknown_model":
            return partial(UnknownModelError, message, status=status)
        case _:
            return partial(ProviderError, message, status=status)


def _usage(usage: Any, where: str) -> Usage:
    counts = mapping(usage, where)
    check_keys(counts, _USAGE, where)
    if not all(isinstance(count, int) and count >= 0 for count in counts.values()):
        raise UsageError(f"{where}: must hold whole numbers of tokens")
    return Usage(**counts)


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """``value`` as an object. Raises ``UsageError`` where it is none."""
    if not is_object(value):
        raise UsageError(f"{where}: must be an object")
    return value


def check_keys(found: Mapping[str, Any], known: set[str], where: str) -> None:
    """Raises ``UsageError`` where ``found`` has keys that are not ``known``."""
    if unknown := sorted(str(key) for key in found if key not in known):
        raise UsageError(f"{where}: unknown {', '.join(unknown)} (known: {', '.join(sorted(known))})")
