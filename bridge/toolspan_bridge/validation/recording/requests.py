"""A recorded request in hashes: by them it is known again, and what differs of another one can be told.

``{"system": HASH, "tools": HASH, "messages": [HASH], "settings": {"max_tokens": 100}}``. What has no part in
an answer is left out: the random id of the conversation, whether it is streamed, and how long a tool took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from ...conversation.message_json import message_data, plain
from ...messages import Message, Request, ToolSpec
from .._clean import Redact, clean
from ..fingerprint import hash_of

__all__ = ["Asked", "AskedBy", "Tools"]

_APART = frozenset(("model", "messages", "system", "tools"))
_WITHOUT_PART = frozenset(("conversation", "stream", "cache", "wire", "meter"))
_HEX = 16
_SENDERS = {"user": "the user", "assistant": "the model", "tool_results": "tools"}
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Tools:
    """Offered tools: the hash of each definition by ``server/name``, and one of all, in their order."""

    hash: str
    each: Mapping[str, str]

    def differences(self, now: Tools) -> Iterator[str]:
        """What is other ``now``, in words."""
        for name in sorted(self.each.keys() | now.each.keys()):
            if name not in now.each:
                yield f"the tool {name} is not offered any more"
            elif name not in self.each:
                yield f"the tool {name} is offered too"
            elif self.each[name] != now.each[name]:
                yield f"the definition of the tool {name} is another one"
        if self.each == now.each and self.hash != now.hash:
            yield "the tools are offered in another order"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request in hashes; ``senders`` of its messages are known of one that was made here."""

    system: str
    tools: str
    messages: tuple[str, ...]
    settings: Mapping[str, Any]
    senders: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As it is recorded, without ``senders``."""
        return {
            "system": self.system,
            "tools": self.tools,
            "messages": list(self.messages),
            "settings": dict(self.settings),
        }

    @property
    def hash(self) -> str:
        """The hash of the whole."""
        return hash_of(self.as_dict())

    def differences(self, now: Asked, tools: Callable[[str], Tools | None]) -> Iterator[str]:
        """What is other in the request ``now``, in words; ``tools`` finds those of a hash."""
        if self.system != now.system:
            yield "the system prompt is another one"
        if self.tools != now.tools:
            before, after = tools(self.tools), tools(now.tools)
            yield from before.differences(after) if before and after else ["the tools are others"]
        for name in sorted(self.settings.keys() | now.settings.keys()):
            before, after = self.settings.get(name), now.settings.get(name)
            if before != after:
                yield f"{name} was {_short(before)} and is {_short(after)}"
        yield from self._other_message(now)

    def _other_message(self, now: Asked) -> Iterator[str]:
        if now.messages == self.messages:
            return
        common = zip(self.messages, now.messages, strict=False)
        place = next((at for at, pair in enumerate(common) if len(set(pair)) > 1), None)
        if place is None:
            yield f"there are {len(now.messages)} messages where there were {len(self.messages)}"
        else:
            sender = now.senders[place] if place < len(now.senders) else "somebody"
            yield f"message {place + 1}, of {sender}, is another one"


class AskedBy:
    """Makes the ``Asked`` of requests; ``redact`` takes secrets out before anything is hashed. ``seen`` are
    the tools of all requests so far, by their hash."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._last: tuple[tuple[ToolSpec, ...], Tools] | None = None
        self.seen: dict[str, Tools] = {}

    def asked(self, request: Request) -> Asked:
        """``request`` in hashes."""
        given = {field.name: getattr(request, field.name) for field in fields(request)}
        settings = {
            name: clean(plain(value), self._redact)
            for name, value in given.items()
            if name not in _APART | _WITHOUT_PART
        }
        return Asked(
            self._hash(request.system),
            self._tools(request.tools).hash,
            tuple(self._hash(_said(message)) for message in request.messages),
            settings,
            tuple(_SENDERS[message_data(message)["role"]] for message in request.messages),
        )

    def _tools(self, tools: tuple[ToolSpec, ...]) -> Tools:
        if self._last is None or self._last[0] is not tools:
            each = {f"{tool.server}/{tool.name}": self._hash(plain(tool)) for tool in tools}
            found = Tools(hash_of([list(pair) for pair in each.items()])[:_HEX], each)
            self._last = (tools, found)
            self.seen[found.hash] = found
        return self._last[1]

    def _hash(self, value: object) -> str:
        return hash_of(clean(value, self._redact))[:_HEX]


def _said(message: Message) -> dict[str, Any]:
    """What the model is told: not how long a tool took, and not who wrote what."""
    data = _unmarked(message_data(message))
    if "outcomes" in data:
        data["outcomes"] = [_unmarked(each) for each in cast("list[dict[str, Any]]", data["outcomes"])]
    for outcome in cast("list[dict[str, Any]]", data.get("outcomes", [])):
        outcome["result"] = {
            key: item for key, item in outcome["result"].items() if key != "execution_time_ms"
        }
    return data


def _unmarked(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in ("marks", "typed")}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
