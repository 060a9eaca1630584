"""The items of a streamed Responses answer, each of them once, however a server numbers and names it.

The numbers (``output_index``) of a stream and the places in the ``output`` of its last event differ with some
servers, several items may have one number, and some make a new id for each event. So an item is known by the
``call_id`` of its call, else by its id, and only then by its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..shared.json_values import as_object, load_nearly, text
from ..shared.replies.stream import TextPieces
from .parts import item_text

_CALL, _MESSAGE = "function_call", "message"
_NAMING = frozenset(("id", "status"))


class OutputItem:
    """An output item under way. ``shown`` is what of its text or arguments has been given as deltas; ``call``
    is its number among the turn's calls."""

    def __init__(self, start: dict[str, Any], place: int | None, call: int | None) -> None:
        self.start = start
        self.place = place
        self.call = call
        self.done: dict[str, Any] | None = None
        self.shown = TextPieces()
        self.parts = set[int]()
        """Which parts of a message have been shown."""
        self.refuses = False
        self.is_let_open = False
        self._other: dict[str, Any] | None = None

    @property
    def kind(self) -> str:
        return text(self.start.get("type"))

    def rest(self, done: Mapping[str, Any]) -> str:
        """What ``done``, the whole item, has beyond what was shown."""
        return self.beyond(text(done.get("arguments")) if self.kind == _CALL else item_text(done))

    def beyond(self, whole: str) -> str:
        """What ``whole``, all of its text or arguments, has beyond what was shown."""
        so_far = self.shown.text
        return whole[len(so_far) :] if whole.startswith(so_far) else ""

    def finish(self, done: dict[str, Any]) -> None:
        """Take the whole item. Another call than the finished one of that name is kept beside it."""
        done = {**done, **self._only_shown(done)}
        if self.done is None:
            self.done = done
        elif self.kind == _CALL and not _is_same(self.done, done):
            self._other = done

    def _only_shown(self, done: Mapping[str, Any]) -> dict[str, Any]:
        """What was shown, where the whole item says nothing in its place."""
        if not self.shown.text.strip():
            return {}
        if self.kind == _CALL and done.get("arguments") in (None, "", "{}", {}):
            return {"arguments": self.shown.text}
        if self.kind == _MESSAGE and not item_text(done).strip():
            return {"content": self._content}
        return {}

    @property
    def _content(self) -> list[dict[str, Any]]:
        kind, key = ("refusal", "refusal") if self.refuses else ("output_text", "text")
        return [{"type": kind, key: self.shown.text}]

    def versions(self) -> list[dict[str, Any]]:
        """The item as far as it is known; a call that came in two versions in both, under one ``call_id``."""
        known = self.as_item()
        if self._other is None:
            return [known]
        name = _call_id(known) or _call_id(self._other) or text(known.get("id")) or "?"
        return [{**each, "call_id": name} for each in (known, self._other)]

    def as_item(self) -> dict[str, Any]:
        """The item as far as it is known, in the version that came first."""
        if self.done is not None:
            return self.done
        if self.kind == _CALL:
            is_whole = self.is_let_open and bool(_arguments(self.shown.text))
            status = "completed" if is_whole else "incomplete"
            return {**self.start, "arguments": self.shown.text, "status": status}
        if self.kind == _MESSAGE:
            return {**self.start, "content": self._content, "status": "incomplete"}
        return self.start


class OutputItems:
    """The items that came, in the order in which they were begun."""

    def __init__(self) -> None:
        self._items: list[OutputItem] = []
        self._by_call: dict[str, OutputItem] = {}
        self._by_id: dict[str, OutputItem] = {}
        self._at: dict[int, OutputItem] = {}
        self._calls = 0

    def begin(self, item: dict[str, Any], place: int | None) -> OutputItem:
        """A new item at ``place``."""
        is_call = item.get("type") == _CALL
        begun = OutputItem(item, place, self._calls if is_call else None)
        self._calls += is_call
        self._items.append(begun)
        if place is not None:
            self._at[place] = begun
        self._name(begun, item)
        return begun

    def of_event(self, item_id: str, place: int | None) -> OutputItem | None:
        """The item that an event adds to."""
        known = self._by_id.get(item_id) if item_id else None
        return known or (self._at.get(place) if place is not None else None)

    def known(self, item: Mapping[str, Any]) -> OutputItem | None:
        """The item that ``item`` is by its names."""
        call_id = _call_id(item)
        if call_id and call_id in self._by_call:
            return self._by_call[call_id]
        named = self._by_id.get(text(item.get("id")))
        return named if named is not None and (_may_be(named, item) or _is_renamed(named, item)) else None

    def let_open(self) -> None:
        """The answer is whole: what of it has no end of its own has ended too."""
        for item in self._items:
            item.is_let_open = item.done is None

    def is_another(self, known: OutputItem, done: Mapping[str, Any], place: int | None) -> bool:
        """Whether ``done`` is another message than the finished one that ``known`` is, under the same id."""
        if known.done is None or known.kind != _MESSAGE or known.place == place:
            return False
        return not _is_same(known.done, done)

    @property
    def last(self) -> OutputItem:
        """The item that was begun last."""
        return self._items[-1]

    def at(self, place: int | None, item: Mapping[str, Any]) -> OutputItem | None:
        """The unfinished item at ``place`` that ``item`` may be; or the finished one there, said again."""
        there = self._at.get(place) if place is not None else None
        if there is None or not _may_be(there, item):
            return None
        return there if there.done is None or _is_same(there.done, item) else None

    def finish(self, known: OutputItem, done: dict[str, Any]) -> None:
        """``known`` is ``done``, under its names too."""
        known.finish(done)
        self._name(known, done)

    def matched(self, final: Sequence[dict[str, Any]]) -> list[OutputItem | None]:
        """For each item of the ``final`` list the one that came before, by names, by content, by place;
        ``None`` for one that is new. What the list has twice is one item."""
        found: list[OutputItem | None] = [self.known(item) for item in final]
        for number, item in enumerate(final):
            known = found[number]
            if known is not None and known in found[:number] and self.is_another(known, item, None):
                found[number] = None
        taken = {id(each) for each in found if each is not None}
        for fits in (self._with_content, self._with_place):
            for number, item in enumerate(final):
                if found[number] is None and (match := fits(number, item, taken)) is not None:
                    found[number] = match
                    taken.add(id(match))
        return found

    def output(self, final: Sequence[OutputItem]) -> list[dict[str, Any]]:
        """The items in the order of the ``final`` list, each one that it lacks after the one before it."""
        order = {id(item): number for number, item in enumerate(final)}
        placed: list[tuple[int, int, OutputItem]] = []
        last = -1
        for number, item in enumerate(self._in_order()):
            last = order.get(id(item), last)
            placed.append((last, number if id(item) not in order else -1, item))
        in_order = (item for _, _, item in sorted(placed, key=lambda each: each[:2]))
        return [version for item in in_order for version in item.versions()]

    def _in_order(self) -> list[OutputItem]:
        if any(item.place is None for item in self._items):
            return self._items
        return sorted(self._items, key=lambda item: item.place or 0)

    def _name(self, known: OutputItem, item: Mapping[str, Any]) -> None:
        if call_id := _call_id(item):
            self._by_call.setdefault(call_id, known)
        if item_id := text(item.get("id")):
            self._by_id.setdefault(item_id, known)

    def _with_content(self, number: int, item: Mapping[str, Any], taken: set[int]) -> OutputItem | None:
        same = (each for each in self._items if each.done is not None and _is_same(each.done, item))
        return next((each for each in same if id(each) not in taken), None)

    def _with_place(self, number: int, item: Mapping[str, Any], taken: set[int]) -> OutputItem | None:
        there = self._at.get(number)
        if there is None or there.done is not None or id(there) in taken or not _may_be(there, item):
            return None
        return there


def _call_id(item: Mapping[str, Any]) -> str:
    return text(item.get("call_id")) if item.get("type") == _CALL else ""


def _may_be(known: OutputItem, item: Mapping[str, Any]) -> bool:
    """Whether ``item`` may be ``known``: of its type, and not another call by its ``call_id``."""
    if known.kind != text(item.get("type")):
        return False
    mine, its = _call_id(known.done or known.start), _call_id(item)
    return not mine or not its or mine == its


def _is_renamed(known: OutputItem, item: Mapping[str, Any]) -> bool:
    """Whether ``item`` is the call ``known``, which has no end yet, under another ``call_id``."""
    if known.done is not None or known.kind != _CALL or item.get("type") != _CALL:
        return False
    shown = known.shown.text
    same = not shown.strip() or _arguments(shown) == _arguments(item.get("arguments"))
    return same and known.start.get("name") == item.get("name")


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two finished items say the same, whatever they are called."""
    if one.get("type") != other.get("type"):
        return False
    if one.get("type") == _MESSAGE:
        return item_text(one).strip() == item_text(other).strip()
    if one.get("type") == _CALL:
        mine, its = _arguments(one.get("arguments")), _arguments(other.get("arguments"))
        return one.get("name") == other.get("name") and mine == its
    unnamed = ({key: item[key] for key in item.keys() - _NAMING} for item in (one, other))
    return next(unnamed) == next(unnamed)


def _arguments(written: Any) -> Any:
    """The object that the arguments are; ``None`` where they are none."""
    try:
        return as_object(load_nearly(written)) if isinstance(written, str) else as_object(written)
    except ValueError:
        return None
