"""Finds conversations by what was said in them: titles, questions, answers, calls and results.

A log whose lines do not hold the longest word of the wanted text is not taken apart: its lines are looked at
as they are written, ASCII but for escapes (``\\u…``), with which a line may hold anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from toolspan_server.common.re2_patterns import compiled
from toolspan_server.common.state.private_files import reading

from ..errors import UsageError
from ..messages import Assistant, Message, ToolResults
from .conversation import Conversation
from .store import ConversationStore, Entry
from .tool_names import ToolNames

__all__ = ["Found", "search"]

_AROUND = 60
_MAX_MEMORY = 16 * 1024 * 1024

_Find = Callable[[str], tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class Found:
    """Where a conversation has it: in its ``title``, a ``question``, an ``answer``, a ``call`` or a
    ``result``, of which ``text`` is the part around it; ``message`` is the message's number, from 1, and 0
    for the title. Of a sub-agent's conversation ``subagent`` is the file, beside the log; else it is
    empty."""

    entry: Entry
    place: str
    message: int
    text: str
    subagent: str = ""


def search(
    store: ConversationStore,
    wanted: str,
    *,
    regex: bool = False,
    per_conversation: int = 3,
    report: Callable[[str], None],
) -> Iterator[Found]:
    """The places that have the text ``wanted``, in any case, or match it as RE2 pattern; the conversation
    that was gone on with last comes first. What cannot be read is told to ``report`` and passed over.

    Raises ``UsageError`` for a pattern that is none.
    """
    find = _matching(wanted) if regex else _holding(wanted)
    word = b"" if regex else _longest_word(wanted)
    for entry in store.entries():
        yield from islice(_places(store, entry, find, word, report), per_conversation)


def _places(
    store: ConversationStore, entry: Entry, find: _Find, word: bytes, report: Callable[[str], None]
) -> Iterator[Found]:
    if (found := _around(entry.head.title, find)) is not None:
        yield Found(entry, "title", 0, found)
    subagents = store.subagent_files(entry)
    for path in (entry.path, *subagents):
        try:
            if not _may_have(path, word):
                continue
            if path == entry.path:
                yield from _of(store.read(entry).conversation, entry, "", find)
            else:
                yield from _of(store.read_subagent(path), entry, path.name, find)
        except UsageError as fault:
            report(str(fault))


def _of(conversation: Conversation, entry: Entry, subagent: str, find: _Find) -> Iterator[Found]:
    names = ToolNames(conversation)
    for number, message in enumerate(conversation.messages, 1):
        for place, text in _texts(message, names):
            if (found := _around(text, find)) is not None:
                yield Found(entry, place, number, found, subagent)


def _longest_word(text: str) -> bytes:
    """The longest run of ASCII letters and digits in ``text``, in lower case."""
    return max(re.findall(r"[a-z0-9_]+", text.lower(), re.ASCII), key=len, default="").encode()


def _may_have(path: Path, word: bytes) -> bool:
    """Whether a line of the file may hold ``word``, in any case; what models are told of tools is no line."""
    if not word:
        return True
    try:
        with reading(path) as lines:
            return any(
                word in line.lower() or b"\\u" in line
                for line in lines
                if not line.startswith(b'{"beginning"')
            )
    except OSError as fault:
        raise UsageError(f"the conversation {path} cannot be read: {fault.strerror}") from None


def _texts(message: Message, names: ToolNames) -> Iterator[tuple[str, str]]:
    if isinstance(message, ToolResults):
        for outcome in message.outcomes:
            value = outcome.result.get("error" if outcome.failed else "result")
            yield "result", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return
    yield "answer" if isinstance(message, Assistant) else "question", message.text
    for call in message.calls if isinstance(message, Assistant) else ():
        name = names.of(call.name)
        shown = name if name in call.name else call.name
        yield "call", f"{shown}({json.dumps(call.arguments, ensure_ascii=False)})"


def _around(text: str, find: _Find) -> str | None:
    """The part of ``text`` that was found, on one line, with what is around it; ``None`` without any."""
    place = find(text)
    if place is None:
        return None
    start, end = max(0, place[0] - _AROUND), min(place[1], place[0] + 2 * _AROUND) + _AROUND
    shown = " ".join(text[start:end].split())
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")


def _holding(wanted: str) -> _Find:
    if not wanted:
        raise UsageError("there is nothing to search for: write a text")
    folded = wanted.casefold()

    def find(text: str) -> tuple[int, int] | None:
        place = text.casefold().find(folded)
        return None if place < 0 else (place, place + len(wanted))

    return find


def _matching(pattern: str) -> _Find:
    try:
        searched = compiled(pattern, ignore_case=True, max_memory=_MAX_MEMORY)
    except ValueError as error:
        raise UsageError(f"{pattern!r} is no RE2 pattern: {error} (leave --regex out for a text)") from None

    def find(text: str) -> tuple[int, int] | None:
        found = searched.search(text.encode("utf-8", "replace").decode())
        return None if found is None else found.span()

    return find
