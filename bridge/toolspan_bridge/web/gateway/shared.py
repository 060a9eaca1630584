"""What the requests of several inbound APIs have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

from ...messages import (
    Assistant,
    Message,
    Part,
    ReasoningEffort,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)
from .faults import RequestFault
from .reading import Fields

__all__ = [
    "MOST_TOOLS",
    "Visible",
    "arguments_of",
    "checked_tools",
    "effort_of",
    "outcome_of",
    "told_left_out",
]

MOST_TOOLS = 1_000
"""The most tools of its own that a client may send."""
_EFFORTS: dict[str, ReasoningEffort] = {
    "none": "none",
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
    "ultra": "high",
}
_LATER_INSTRUCTIONS = "From here on these instructions hold too:\n\n{}"


def effort_of(written: str, place: str, warnings: list[str]) -> ReasoningEffort | None:
    """The effort of reasoning that ``written`` stands for; ``None`` for none of its own. Raises
    ``RequestFault``."""
    if not written:
        return None
    known = _EFFORTS.get(written)
    if known is None:
        raise RequestFault(f"{place} must be one of {', '.join(_EFFORTS)}", param=place)
    if known != written:
        warnings.append(f"{place} {written!r} is asked for as {known!r}")
    return known


def told_left_out(tools: Sequence[Fields], taken: Collection[str]) -> list[str]:
    """Warnings about those of ``tools`` that are of other types than those that are ``taken``: they are the
    provider's own, and are left out. Raises ``RequestFault`` where none would be left: the request asks for
    one of them, and an answer without it would be another one.
    """
    others = [tool for tool in tools if tool.text("type") not in taken]
    if others and len(others) == len(tools):
        kind = others[0].text("type")
        why = "choose a preset or a route that enables the provider's own tools, or send a tool of yours"
        raise RequestFault(
            f"{others[0].at('type')} {kind!r} cannot be taken here: {why}", param=others[0].at("type")
        )
    return [
        f"{tool.at('type')} {tool.text('type')[:100]!r} is left out: it is a tool of the provider's own"
        for tool in others
    ]


def checked_tools(tools: Iterable[ToolSpec], place: str) -> tuple[ToolSpec, ...]:
    """``tools``. Raises ``RequestFault`` where there are too many, or two of one name."""
    found = tuple(tools)
    if len(found) > MOST_TOOLS:
        raise RequestFault(f"{place} may have {MOST_TOOLS:,} tools, not {len(found):,}", param=place)
    names = Counter(tool.name for tool in found)
    double = next((name for name, count in names.items() if count > 1), None)
    if double is not None:
        raise RequestFault(f"{place} has several tools named {double!r}", param=place)
    return found


def arguments_of(call_id: str, name: str, raw: str) -> ToolCall:
    """A call of an earlier turn, as the client sends it back."""
    import json

    try:
        value = json.loads(raw or "{}")
    except (ValueError, RecursionError):
        value = None
    return ToolCall(call_id, name, value if isinstance(value, dict) else None, raw)  # pyright: ignore[reportUnknownArgumentType] # any object of JSON


def outcome_of(call_id: str, name: str, parts: Sequence[Part], *, failed: bool = False) -> ToolOutcome:
    """What the client's own tool gave, as ``parts``."""
    text = "\n\n".join(str(part.data["text"]) for part in parts if part.type == "text")
    result = {"success": False, "error": text} if failed else {"success": True, "result": text}
    return ToolOutcome(call_id, name, {**result, "tool_name": name}, tuple(parts))


@dataclass(slots=True)
class Visible:
    """The history that a client sends, read message by message. The first instructions are the system prompt;
    later ones are messages of the user. What follows one another of one side is one message."""

    system: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _said: list[Assistant] = field(default_factory=list[Assistant])
    _outcomes: list[ToolOutcome] = field(default_factory=list[ToolOutcome])

    def _end_turn(self) -> None:
        """Write what the model said in a row, or what its calls gave, as one message."""
        if self._said:
            text = "\n\n".join(filter(None, (each.text for each in self._said)))
            calls = tuple(call for each in self._said for call in each.calls)
            self.messages.append(replace(self._said[0], text=text, calls=calls))
            self._said = []
        if self._outcomes:
            self.messages.append(ToolResults(tuple(self._outcomes)))
            self._outcomes = []

    def know_calls(self) -> None:
        """Let results follow that are of calls in the messages that there are already."""
        said = (message for message in self.messages if isinstance(message, Assistant))
        self._names |= {call.id: call.name for message in said for call in message.calls}

    def instruct(self, text: str) -> None:
        """Instructions of the application."""
        self._end_turn()
        if not self.messages:
            self.system = "\n\n".join(filter(None, (self.system, text)))
        elif text:
            self.messages.append(User(_LATER_INSTRUCTIONS.format(text), typed=""))

    def ask(self, text: str, parts: Sequence[Part] = ()) -> None:
        """A message of the user."""
        self._end_turn()
        self.messages.append(User(text, tuple(parts)))

    def ask_instructions(self) -> None:
        """Let the instructions be what is asked, where there is nothing else."""
        self._end_turn()
        if not self.messages and self.system:
            self.ask(self.system)
            self.system = ""

    def say(self, text: str, calls: Sequence[ToolCall] = ()) -> None:
        """A message of the model; several in a row are one."""
        self._names |= {call.id: call.name for call in calls}
        if not self._said:
            self._end_turn()
            if self.messages and isinstance(self.messages[-1], Assistant):
                self._said = [cast("Assistant", self.messages.pop())]
        self._said.append(Assistant(text, tuple(calls)))

    def result(self, call_id: str, parts: Sequence[Part], place: str, *, failed: bool = False) -> None:
        """The result of a call. Raises ``RequestFault`` where no such call stands before it."""
        name = self._names.get(call_id)
        if name is None:
            raise RequestFault(
                f"{place}: no message before it has a call with the id {call_id!r}", param=place
            )
        if not self._outcomes:
            self._end_turn()
            if isinstance(self.messages[-1], ToolResults):
                self._outcomes = [*cast("ToolResults", self.messages.pop()).outcomes]
        self._outcomes.append(outcome_of(call_id, name, parts, failed=failed))

    def asked(self, place: str) -> tuple[Message, ...]:
        """All messages. Raises ``RequestFault`` where nothing is asked, or a call has no result."""
        self._end_turn()
        self._all_answered(place)
        last = self.messages[-1] if self.messages else None
        if isinstance(last, User | ToolResults):
            return tuple(self.messages)
        if last is None:
            raise RequestFault(f"{place} must hold a message", param=place)
        why = "must end with a message of the user or a tool's result: no answer can be begun here"
        raise RequestFault(f"{place} {why}", param=place)

    def _all_answered(self, place: str) -> None:
        for message, following in pairwise(self.messages):
            if not isinstance(message, Assistant) or not message.calls:
                continue
            results = following.outcomes if isinstance(following, ToolResults) else ()
            answered = {outcome.call_id for outcome in results}
            for call in message.calls:
                if call.id not in answered:
                    why = f"the call {call.id!r} of {call.name!r} has no result in what comes next"
                    raise RequestFault(f"{place}: {why}", param=place)
