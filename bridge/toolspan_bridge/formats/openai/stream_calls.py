"""The calls of a streamed turn, put together from their pieces, however a server numbers and cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...messages.deltas import CallDelta
from ..shared.json_values import as_object, at, compact, load, text
from ..shared.replies.parse import NO_ID
from ..shared.replies.stream import TextPieces

_NOTHING = "{}"


class CallPieces:
    """The calls of a turn, their pieces put together by index, or by id where that is more exact."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._shown = 0

    def add(self, piece: dict[str, Any]) -> CallDelta | None:
        """Take a piece, an entry of ``delta.tool_calls``; returns what it adds to be shown, which is nothing
        of a call that came before under its id: whoever reads the whole turn says whether it is the same."""
        call_id, name = text(piece.get("id")), text(at(piece, "function", "name"))
        call_id = "" if call_id == NO_ID else call_id
        written = _written(at(piece, "function", "arguments"))
        index = piece.get("index")
        index = index if isinstance(index, int) else None
        call = self._open(index, call_id)
        if call is None or call.ends_before(call_id, name, written):
            call = self._begin(index, call_id)
        named = call.name
        call.add(call_id, name, piece.get("extra_content"))
        self._by_id.setdefault(call.id, call)
        if index is not None:
            self._by_index[index] = call
        shown = call.write(written)
        name = "" if call.name == named else call.name
        if call.repeats or not (name or shown):
            return None
        if call.place is None:
            call.place, self._shown = self._shown, self._shown + 1
        return CallDelta(call.place, name, shown)

    def _begin(self, index: int | None, call_id: str) -> _Call:
        call = _Call(len(self._calls), index, repeats=bool(call_id) and call_id in self._by_id)
        self._calls.append(call)
        return call

    @property
    def body(self) -> list[dict[str, Any]]:
        """By index, where every call has one; else in the order that they came in."""
        placed = [(call.index, call.order, call) for call in self._calls if call.index is not None]
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
    """A call under way, the one at ``order`` of all; ``place`` is that among the calls that are shown, once
    there is something to show. ``repeats``: one with its id came before."""

    def __init__(self, order: int, index: int | None, *, repeats: bool) -> None:
        self.order = order
        self.index = index
        self.repeats = repeats
        self.place: int | None = None
        self.id = ""
        self.name = ""
        self.arguments = TextPieces()
        self.pieces: list[str] = []
        self._state: Any = None

    def add(self, call_id: str, name: str, state: Any) -> None:
        """Take the id, more of the name, and state to be sent back. A name that is repeated adds nothing."""
        self.id = self.id or call_id
        if name.startswith(self.name):
            self.name = name
        elif name != self.name:
            self.name += name
        self._state = _joined(self._state, state) if state else self._state

    def write(self, written: str) -> str:
        """Take more of the arguments; returns what of it can be shown."""
        if written:
            self.pieces.append(written)
        return self.arguments.add(written)

    def ends_before(self, call_id: str, name: str, written: str) -> bool:
        """Whether a piece that seems to be of this call begins another.

        Some servers number all calls 0, or none. A name with another id begins the next, and so does one
        without an id after arguments: another name, or the same one with arguments when these are complete.
        Without arguments yet, another name is more of this one.
        """
        if not name or not self.name:
            return False
        so_far = self.arguments.text
        if call_id and self.id:
            return call_id != self.id and not (name == self.name and _is_rest(so_far, written))
        if not so_far.strip():
            return bool(call_id) and name != self.name
        if name != self.name:
            return True
        restated = so_far.strip() == _NOTHING and written.strip() != _NOTHING
        return bool(written.strip()) and not restated and _is_whole(so_far)

    @property
    def body(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": _last_said(self.arguments.text, self.pieces)}
        state = {} if self._state is None else {"extra_content": self._state}
        return {"id": self.id, "type": "function", "function": function, **state}


def _written(arguments: Any) -> str:
    """More of the arguments' JSON; some servers send them whole, as an object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else compact(arguments)


def _is_rest(so_far: str, written: str) -> bool:
    """Whether ``written`` can only be more of ``so_far``: some servers make a new id for each piece."""
    begun = so_far.strip()
    return bool(begun) and not written.lstrip().startswith("{") and not _is_whole(begun)


def _is_whole(arguments: str) -> bool:
    try:
        return as_object(load(arguments)) is not None
    except ValueError:
        return False


def _last_said(arguments: str, pieces: Sequence[str]) -> str:
    """The arguments of a server that says them again from the start: begun as ``{}`` and then given whole,
    or each piece with all before it."""
    rest = arguments.lstrip().removeprefix(_NOTHING).strip()
    if rest.startswith("{") and rest != arguments.strip():
        return rest
    grows = len(pieces) > 1 and all(after.startswith(before) for before, after in pairwise(pieces))
    return pieces[-1] if grows and not _is_whole(arguments) and _is_whole(pieces[-1]) else arguments


def _joined(before: Any, more: Any) -> Any:
    """State in pieces: an object's members are joined, other values replaced."""
    mine, its = as_object(before), as_object(more)
    if mine is None or its is None:
        return more
    return {**mine, **{key: _joined(mine.get(key), value) for key, value in its.items()}}
