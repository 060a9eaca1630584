"""The calls of a streamed turn, put together from their pieces, however a server numbers and cuts them."""

from __future__ import annotations

from typing import Any

from ...messages.deltas import CallDelta
from ..shared.json_values import as_object, at, compact, load, text
from ..shared.replies.stream import TextPieces

_NOTHING = "{}"
_NO_ID = "null"
"""The id of a call that was given none, in Mistral's types (mistralai 3.7.0, ``models/toolcall.py``)."""


class CallPieces:
    """The calls of a turn, their pieces put together by index, or by id where that is more exact."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def add(self, piece: dict[str, Any]) -> CallDelta:
        """Take a piece, an entry of ``delta.tool_calls``; returns what it adds to be shown."""
        call_id, name = text(piece.get("id")), text(at(piece, "function", "name"))
        call_id = "" if call_id == _NO_ID else call_id
        written = _written(at(piece, "function", "arguments"))
        index = piece.get("index")
        index = index if isinstance(index, int) else None
        call = self._open(index, call_id)
        if call is None or call.ends_before(call_id, name, written):
            call = _Call(len(self._calls), index)
            self._calls.append(call)
        named = call.name
        call.add(call_id, name, piece.get("extra_content"))
        self._by_id.setdefault(call.id, call)
        if index is not None:
            self._by_index[index] = call
        shown = "" if call.name == named else call.name
        return CallDelta(call.place, shown, call.arguments.add(written))

    @property
    def body(self) -> list[dict[str, Any]]:
        """By index, where every call has one; else in the order that they came in."""
        placed = [(call.index, call.place, call) for call in self._calls if call.index is not None]
        if len(placed) < len(self._calls):
            return [call.body for call in self._calls]
        return [call.body for _, _, call in sorted(placed, key=lambda each: each[:2])]

    def _open(self, index: int | None, call_id: str) -> _Call | None:
        """The call that a piece belongs to: of its index, else of its id, else the one that came last."""
        if index is not None:
            return self._by_index.get(index)
        last = self._calls[-1] if self._calls else None
        return self._by_id.get(call_id, last) if call_id else last


class _Call:
    def __init__(self, place: int, index: int | None) -> None:
        self.place = place
        self.index = index
        self.id = ""
        self.name = ""
        self.arguments = TextPieces()
        self._state: Any = None

    def add(self, call_id: str, name: str, state: Any) -> None:
        """Take the id, more of the name, and state to be sent back. A name that is repeated adds nothing."""
        self.id = self.id or call_id
        if name.startswith(self.name):
            self.name = name
        elif name != self.name:
            self.name += name
        self._state = _joined(self._state, state) if state else self._state

    def ends_before(self, call_id: str, name: str, written: str) -> bool:
        """Whether a piece that seems to be of this call begins another.

        Some servers number all calls 0, or none. A name with another id begins the next, and so does one
        without an id after arguments: another name, or the same one with arguments when these are complete.
        Without arguments yet, another name is more of this one.
        """
        if not name or not self.name:
            return False
        if call_id and self.id:
            return call_id != self.id
        so_far = self.arguments.text
        if not so_far.strip():
            return bool(call_id) and name != self.name
        if name != self.name:
            return True
        restated = so_far.strip() == _NOTHING and written.strip() != _NOTHING
        return bool(written.strip()) and not restated and _is_whole(so_far)

    @property
    def body(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": _last_said(self.arguments.text)}
        state = {} if self._state is None else {"extra_content": self._state}
        return {"id": self.id, "type": "function", "function": function, **state}


def _written(arguments: Any) -> str:
    """More of the arguments' JSON; some servers send them whole, as an object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else compact(arguments)


def _is_whole(arguments: str) -> bool:
    try:
        return as_object(load(arguments)) is not None
    except ValueError:
        return False


def _last_said(arguments: str) -> str:
    """Arguments that a server began as ``{}`` and then gave whole."""
    rest = arguments.lstrip().removeprefix(_NOTHING).strip()
    return rest if rest.startswith("{") and rest != arguments.strip() else arguments


def _joined(before: Any, more: Any) -> Any:
    """State in pieces: an object's members are joined, other values replaced."""
    mine, its = as_object(before), as_object(more)
    if mine is None or its is None:
        return more
    return {**mine, **{key: _joined(mine.get(key), value) for key, value in its.items()}}
