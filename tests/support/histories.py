"""Conversations that go on: every kind of turn that a format's models produce, every kind of result, and a
peer (a format at a provider) that is asked with what was said before and held to its provider's rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from tests.support.formats import TOOLS
from tests.support.outcomes import PDF, PNG, WAV, failed, image, part, said, succeeded
from tests.support.provider_rules.chat_rows import rules_of
from tests.support.wires import prompt
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolCall,
    ToolOutcome,
    ToolResults,
    WireOptions,
)
from toolspan_bridge.providers.compatible.rows import row_of
from toolspan_bridge.providers.wire.own_state import from_provider, without_foreign_state

FORMATS = (*format_names(), *(f"prompt:{name}" for name in format_names() if name != "prompt"))
"""Every format, and the prompt format over each of the others."""

_FAMILIES = (
    "us.amazon.nova-pro-v1:0",
    "us.meta.llama4-maverick-17b-instruct-v1:0",
    "us.meta.llama3-3-70b-instruct-v1:0",
    "mistral.mistral-large-2407-v1:0",
    "us.mistral.pixtral-large-2502-v1:0",
    "us.writer.palmyra-x5-v1:0",
    "qwen.qwen3-32b-v1:0",
    "openai.gpt-oss-120b-1:0",
    "arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc",
)
_ROWS = (
    "cerebras",
    "cohere",
    "deepseek",
    "groq",
    "minimax",
    "mistral",
    "moonshot",
    "openai",
    "openrouter",
    "xai",
    "zai",
)
PEERS = (*FORMATS, *(f"bedrock@{model}" for model in _FAMILIES), *(f"openai@{row}" for row in _ROWS))
"""Every format, Converse for each family of models, and Chat Completions as each row of servers takes it."""

MODELS = {"gemini": "gemini-3-pro", "openai-responses": "gpt-5.5", "ollama": "qwen3"}
_CLAUDE = "claude-sonnet-4-5"
STATE = frozenset(
    {"data", "encrypted_content", "reasoning_content", "redactedContent", "signature", "thinking"}
) | {"thoughtSignature"}
"""The members of opaque state that no other provider can read."""
_STATES = {"": STATE, "openrouter": STATE, "deepseek": frozenset({"reasoning_content"})}
"""What of it the variants of a format get back; others get nothing, as they would refuse it."""

LONG = 60_000
MAX_RESULT_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a model as its format's parsers give it. Only a stream has turns that are not ``whole``."""

    streamed: Reply
    whole: Reply | None = None

    def replies(self) -> Iterator[Reply]:
        """The turn whole, and streamed."""
        yield self.streamed
        if self.whole is not None:
            yield self.whole


class Peer:
    """One of ``PEERS`` at the provider ``origin``: its models' turns, and requests held to its rules."""

    def __init__(self, name: str, origin: str = "") -> None:
        self.name, self.origin = name, origin or f"at-{name}"
        wire_format, _, variant = name.partition("@")
        self.format = get_format(wire_format)
        _, self._prompted, base = wire_format.partition(":")
        spoken = base or wire_format
        module = spoken.replace("-", "_")
        self.answers: Any = import_module(f"tests.support.wires.{module}")
        self.rules: Any = import_module(f"tests.support.provider_rules.{module}")
        model = MODELS.get(spoken, getattr(self.answers, "MODEL", _CLAUDE))
        self._known: dict[str, Any] = {"model": model}
        self._rule: tuple[Any, ...] = ()
        if variant and wire_format == "bedrock":
            self._known, self._rule = {"model": variant}, (variant,)
        elif variant:
            self._known, self._rule = (
                {"model": "m", "wire": WireOptions(row_of(variant).chat)},
                (rules_of(variant),),
            )
        self._state = _STATES.get(variant, frozenset())

    def ask(self, messages: Iterable[Message], **options: Any) -> str:
        """The request with these messages, which the provider takes, as JSON."""
        options = {"model": "", "tools": TOOLS, "max_result_bytes": MAX_RESULT_BYTES, **options}
        body = self.sent(Request(messages=tuple(messages), **options))
        return json.dumps(body, ensure_ascii=False)

    def sent(self, request: Request) -> Any:
        """``request`` to this peer's model as it is sent, which the provider takes."""
        request = without_foreign_state(replace(request, **self._known), self.origin)
        body = self.format.render_request(request, NameTable.of(request.tools))
        self.rules.check_request(body, *self._rule)
        return body

    def turn_names(self) -> list[str]:
        """Every kind of turn: those of all formats, and those of this format's own streams."""
        spoken = [name for name, (_, stop) in _SPOKEN.items() if stop in self.answers.STOPS]
        own = [] if self._prompted else [f"its own: {name}" for name in self.answers.STREAMS]
        return [*spoken, *own, "incomplete"]

    def turn(self, name: str) -> Turn:
        """The turn ``name``."""
        if name == "incomplete":
            _, frames = self._spoken(*_SPOKEN["reasoning, text and calls"])
            return Turn(self._parsed(frames[: len(frames) // 2]))
        body, frames = self.as_sent(name)
        return Turn(self._parsed(frames), self.reads(body))

    def as_sent(self, name: str) -> tuple[Any, list[bytes]]:
        """The turn ``name``, which is not "incomplete", as the provider sends it: whole, and its stream."""
        _, own, stream = name.partition("its own: ")
        if own:
            frames, body = self.answers.STREAMS[stream]
            return body, frames
        return self._spoken(*_SPOKEN[name])

    def own_state(self, message: Assistant) -> set[str]:
        """What of ``message`` this provider has to get back. For a server of Chat Completions a turn whose
        calls stand in its text is none with calls.
        """
        if message.opaque_format == "prompt:openai":
            return set()
        return state_of(message, self._state)

    def says(self, *parts: tuple[str, Any]) -> Reply:
        """A whole turn of these ``parts`` (``tests.support.wires``)."""
        body, _ = self._spoken(parts, "stop")
        return self.reads(body)

    def reads(self, body: Any) -> Reply:
        """The turn in ``body``, a whole answer."""
        return from_provider(self.format.parse_reply(body), self.origin)

    def _parsed(self, frames: list[bytes]) -> Reply:
        stream = self.format.parse_stream()
        for frame in frames:
            stream.feed(frame)
        return from_provider(stream.end(), self.origin)

    def _spoken(self, parts: Any, stop: str) -> tuple[Any, list[bytes]]:
        if self._prompted:
            calls = [given for kind, given in parts if kind == "call"]
            text = "".join(given for kind, given in parts if kind == "text")
            thoughts = [each for each in parts if each[0] == "thought"]
            parts = [*thoughts, ("text", prompt.written(text, calls))]
        body, frames = self.answers.spoken(parts, stop)
        return body, frames


_THOUGHT = ("thought", "Where is it? In Tromsø 🌧.")
_CALL = ("call", ("c1", "s__weather", {"city": "Tromsø"}))
_SECOND = ("call", ("c2", "s__time", {}))
_SPOKEN: dict[str, tuple[Any, str]] = {
    "text": ([("text", "It is seven.")], "stop"),
    "reasoning and text": ([_THOUGHT, ("text", "It is seven.")], "stop"),
    "reasoning alone": ([_THOUGHT], "stop"),
    "one call": ([_CALL], "stop"),
    "parallel calls": ([("text", "I look."), _CALL, _SECOND], "stop"),
    "calls without ids": ([("call", (None, "s__time", {})), ("call", (None, "s__time", {}))], "stop"),
    "a call of a name made up": ([("call", ("c1", "get the weather!", {}))], "stop"),
    "reasoning and a call": ([_THOUGHT, _CALL], "stop"),
    "reasoning, text and calls": ([_THOUGHT, ("text", "I look."), _CALL, _SECOND], "stop"),
    "a malformed call": ([_THOUGHT, ("call", ("c1", "s__weather", '{"city": Tr'))], "stop"),
    "cut": ([_THOUGHT, ("text", "I look."), _CALL], "length"),
    "cut in its thoughts": ([_THOUGHT], "length"),
    "refused": ([_THOUGHT, ("text", "I must not."), _CALL], "refusal"),
    "refused without a word": ([_CALL], "refusal"),
}

RESULTS: dict[str, tuple[ToolOutcome, str]] = {
    "text": (succeeded(said("seven degrees")), "seven degrees"),
    "JSON": (succeeded(structured={"degrees": 17, "sky": ["grey"]}), "grey"),
    "a list": (succeeded(structured=["grey", 17]), "grey"),
    "an error": (failed(said("no such town")), "no such town"),
    "an error with an image": (failed(said("no such town"), image()), "no such town"),
    "an image": (succeeded(said("a map:"), image()), "a map:"),
    "an image alone": (succeeded(image()), ""),
    "a GIF": (succeeded(image("R0lGODlhAQABAAAAADs=", "image/gif")), ""),
    "a PDF": (
        succeeded(
            part("resource", resource={"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": PDF})
        ),
        "",
    ),
    "sound": (succeeded(part("audio", data=WAV, mimeType="audio/wav")), ""),
    "a link": (succeeded(part("resource_link", uri="https://a.test/x", name="x")), "https://a.test/x"),
    "nothing": (succeeded(), ""),
    "a reference": (succeeded(structured={"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "b"}}}), "#/$defs/a"),
    "much, and cut": (succeeded(said("ä" * LONG)), f"max_result_bytes is {MAX_RESULT_BYTES}"),
}
"""Outcomes of tools, and the words by which each is found in a request."""

FILES = {"an image": PNG, "an image alone": PNG, "a PDF": PDF, "sound": WAV}
"""The outcomes whose file is sent, or stated as omitted."""


def answered(calls: Iterable[ToolCall], kinds: Iterable[str] = ("text",)) -> list[Message]:
    """The results of ``calls``, of these ``kinds`` in turn; no message where there are no calls."""
    names = list(kinds)
    outcomes = [_of(RESULTS[names[place % len(names)]][0], call) for place, call in enumerate(calls)]
    return [ToolResults(tuple(outcomes))] if outcomes else []


def _of(outcome: ToolOutcome, call: ToolCall) -> ToolOutcome:
    return ToolOutcome(call.id, call.name, outcome.result, outcome.parts, outcome.structured)


def state_of(message: Assistant, members: frozenset[str] = STATE) -> set[str]:
    """What of ``message`` only its own provider can read: the texts under ``members`` of its opaque state."""
    found = set(_texts(message.opaque, members))
    for call in message.calls:
        found |= set(_texts(call.opaque, members))
    return found


def _texts(value: Any, members: frozenset[str]) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (inner for key, inner in value.items() if key in members and isinstance(inner, str))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner, members)
