"""A provider that replays recorded turns: for tests, demonstrations and reports of a fault.

``scripted/PATH.yaml`` reads a file, ``Scripted([...])`` takes the turns in code. A turn is one answer:

    turns:
      - text: Let me look.                       optional
        pieces: ["Let me ", look.]               optional: the text as a stream brings it, instead of `text`
        reasoning: They want the weather.        optional: for streams only
        calls:                                   optional
          - tool: get_weather                    its own name, or the name on the wire
            arguments: {location: Paris}         an object; or text, read as a model's raw arguments
            id: call_1                           optional
        usage: {input_tokens: 12, output_tokens: 5}
        stop: stop                               stop, length, refusal, pause or other
        incomplete: true                         optional: the stream broke off here
      - error: {kind: provider, message: overloaded, status: 529}
                                                 kind: auth, unreachable, unknown_model or provider
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import yaml
from typing_extensions import override

from ...errors import (
    AuthError,
    BridgeError,
    ProviderError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from ...formats.names import NameTable
from ...messages import (
    Assistant,
    Reply,
    Request,
    StopReason,
    ToolCall,
    Usage,
)
from ...messages.deltas import Delta, ReasoningDelta, TextDelta
from ..contract import Provider, pieces
from ..wire.json_types import is_list, is_object

__all__ = ["Scripted", "Turn", "connect"]

_TURN = {"text", "pieces", "reasoning", "calls", "usage", "stop", "incomplete", "error"}
_BROKE_OFF = "the script breaks off here"
_CALL = {"tool", "arguments", "id"}
_ERROR = {"kind", "message", "status"}
_USAGE = {"input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"}
_KINDS = {"auth", "unreachable", "unknown_model", "provider"}

Turn = Reply | BridgeError | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _RecordedTurn:
    """A turn: the reply, and the deltas that a stream yields before its calls."""

    reply: Reply
    deltas: tuple[Delta, ...] = ()


def connect(model: str) -> Provider:
    """The script in the file ``model``. Raises ``UsageError`` that says what is wrong with it, and where."""
    try:
        content = yaml.safe_load(Path(model).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the script {model} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the script {model} cannot be read: it is no UTF-8") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"the script {model} is no YAML: {error}") from None
    turns = content.get("turns") if is_object(content) else None
    if not is_list(turns) or not turns:
        raise UsageError(f"the script {model} holds no turns: write `turns:` and a list under it")
    return Scripted([_mapping(turn, f"{model}: $.turns[{n}]") for n, turn in enumerate(turns)], source=model)


class Scripted(Provider):
    """Answers with ``turns``, one for each request. ``requests`` holds what it was asked, in order.

    Raises ``UsageError`` at once when a turn is not as the module says.
    """

    name = "scripted"

    def __init__(self, turns: Sequence[Turn], *, source: str = "the script") -> None:
        self.requests: list[Request] = []
        self._source = source
        self._turns = [
            _read(turn, f"{source}: $.turns[{place}]") if isinstance(turn, Mapping) else _given(turn)
            for place, turn in enumerate(turns)
        ]

    @override
    async def answer(self, request: Request) -> Reply:
        """The next turn, its tools under the names that ``request`` gives them. Raises the turn's error if it
        is one, and ``ProviderError`` when there are no more turns."""
        return self._next(request)[0]

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The next turn in its recorded pieces, and whole. Raises as ``answer``."""
        reply, deltas = self._next(request)
        for delta in deltas:
            yield delta
        yield reply

    def _next(self, request: Request) -> tuple[Reply, tuple[Delta, ...]]:
        place = len(self.requests)
        self.requests.append(request)
        if place >= len(self._turns):
            raise ProviderError(
                f"{self._source} ends after turn {len(self._turns)} and was asked for one more: add it"
            )
        turn = self._turns[place]
        if isinstance(turn, BridgeError):
            raise turn
        reply = _named(turn.reply, NameTable.of(request.tools), place)
        calls = pieces(replace(reply, message=replace(reply.message, text="")))
        return reply, (*turn.deltas, *calls)

    @override
    async def aclose(self) -> None:
        """There is nothing to close."""


def _named(reply: Reply, names: NameTable, place: int) -> Reply:
    calls = tuple(
        replace(call, id=call.id or f"call_{place + 1}_{number}", name=_wire_name(call.name, names))
        for number, call in enumerate(reply.message.calls, start=1)
    )
    return replace(reply, message=replace(reply.message, calls=calls))


def _wire_name(name: str, names: NameTable) -> str:
    """The wire name of the one tool called ``name``; ``name`` itself when it is a wire name or no tool's."""
    known = names.as_dict()
    owners = [wire for wire, (_, own) in known.items() if own == name]
    return owners[0] if name not in known and len(owners) == 1 else name


def _given(turn: Reply | BridgeError) -> _RecordedTurn | BridgeError:
    if isinstance(turn, BridgeError):
        return turn
    return _RecordedTurn(turn, (TextDelta(turn.message.text),) if turn.message.text else ())


def _read(turn: Mapping[str, Any], where: str) -> _RecordedTurn | BridgeError:
    _check(turn, _TURN, where)
    if "error" in turn:
        return _error(_mapping(turn["error"], f"{where}.error"), f"{where}.error")
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
        return _RecordedTurn(Reply(cut, "other", usage, read, incomplete=True, trouble=_BROKE_OFF), deltas)
    return _RecordedTurn(Reply(Assistant(text, read), stop, usage), deltas)


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
    found = _mapping(call, where)
    _check(found, _CALL, where)
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


def _error(error: Mapping[str, Any], where: str) -> BridgeError:
    _check(error, _ERROR, where)
    kind, message, status = error.get("kind", "provider"), str(error.get("message", "")), error.get("status")
    if kind not in _KINDS:
        raise UsageError(f"{where}.kind: {kind!r} is none of {', '.join(sorted(_KINDS))}")
    if status is not None and not isinstance(status, int):
        raise UsageError(f"{where}.status: must be an HTTP status such as 529")
    match kind:
        case "auth":
            return AuthError(message)
        case "unreachable":
            return UnreachableError(message)
        case "unknown_model":
            return UnknownModelError(message, status=status)
        case _:
            return ProviderError(message, status=status)


def _usage(usage: Any, where: str) -> Usage:
    counts = _mapping(usage, where)
    _check(counts, _USAGE, where)
    if not all(isinstance(count, int) and count >= 0 for count in counts.values()):
        raise UsageError(f"{where}: must hold whole numbers of tokens")
    return Usage(**counts)


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not is_object(value):
        raise UsageError(f"{where}: must be an object")
    return value


def _check(found: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(str(key) for key in found if key not in known):
        raise UsageError(f"{where}: unknown {', '.join(unknown)} (known: {', '.join(sorted(known))})")
