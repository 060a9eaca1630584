"""Ollama's and Mistral's own clients: they would send what is sent, and read what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.formats import TOOLS, Wire
from tests.support.histories import FORMATS, PEERS, RESULTS, Peer, answered
from tests.support.official_clients import read_by_ollama
from tests.support.official_types import check_mistral, check_ollama
from toolspan_bridge.formats import get_format
from toolspan_bridge.messages import Reply, ToolSpec, User

pytestmark = [pytest.mark.long, pytest.mark.requirement("I11.5.3")]

CHECKS = {"ollama": check_ollama, "openai@mistral": check_mistral}
SPEAKERS = [*(name for name in FORMATS if ":" not in name), "openai@mistral"]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DEEP = {
    "type": "object",
    "properties": {
        "at": {"type": "object", "properties": {"lat": {"type": ["number", "null"]}}, "required": ["lat"]},
        "how": {
            "anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "array", "items": {"type": "string"}}]
        },
    },
    "required": ["at"],
    "$defs": {"x": {"type": "string"}},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "nothing more": {},
    "a system prompt": {"system": "Be brief.", "max_tokens": 100, "temperature": 0.5, "parallel": False},
    "a call is demanded": {"tool_choice": "required"},
    "one tool is demanded": {"tool_choice": ("s", "weather")},
    "no call": {"tool_choice": "none"},
    "a schema beside tools": {"answer_schema": CITY},
    "a schema alone": {"answer_schema": CITY, "tools": ()},
    "thinking": {"reasoning": "high", "conversation": "c1"},
    "no thinking": {"reasoning": "none"},
    "no pictures": {"vision": False},
}


def rendered(name: str, *messages: Any, **options: Any) -> dict[str, Any]:
    """The body as the provider gets it: Mistral knows the limit of the answer as ``max_tokens``."""
    body: dict[str, Any] = json.loads(Peer(name).ask(messages, **options))
    if "max_completion_tokens" in body:
        body["max_tokens"] = body.pop("max_completion_tokens")
    return body


@pytest.mark.parametrize("speaker", SPEAKERS)
@pytest.mark.parametrize("name", CHECKS)
def test_second_turns_are_what_the_providers_client_would_send(name: str, speaker: str) -> None:
    peer = Peer(speaker)
    for place, reply in enumerate(reply for kind in peer.turn_names() for reply in peer.turn(kind).replies()):
        kinds = [*RESULTS][place % len(RESULTS) :]
        asked = (User("hi"), reply.message, *answered(reply.message.calls, kinds), User("thanks"))
        CHECKS[name](rendered(name, *asked, stream=bool(place % 2)))


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", CHECKS)
def test_results_are_what_the_providers_client_would_send(name: str, kind: str) -> None:
    reply = Peer(name).says(
        ("thought", "Hm."), ("call", ("c1", "s__weather", {})), ("call", ("c2", "s__time", {}))
    )
    asked = (User("hi"), reply.message, *answered(reply.message.calls, [kind, "text"]))
    CHECKS[name](rendered(name, *asked))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", CHECKS)
def test_options_are_what_the_providers_client_would_send(
    name: str, stream: bool, options: dict[str, Any]
) -> None:
    CHECKS[name](rendered(name, User("hi"), stream=stream, **options))


@pytest.mark.parametrize("name", ["ollama", "openai"])
def test_schemas_of_tools_are_what_the_providers_client_would_send(name: str) -> None:
    tools = (ToolSpec("s", "deep", "Tells", DEEP), ToolSpec("s", "list", "", {"type": "object"}), *TOOLS)
    CHECKS["ollama" if name == "ollama" else "openai@mistral"](Wire(name).render(User("hi"), tools=tools))


@pytest.mark.parametrize(
    "path",
    [("surprise",), ("messages", 0, "surprise"), ("tools", 0, "function", "surprise")],
    ids=["in the body", "in a message", "in a tool"],
)
@pytest.mark.parametrize("name", CHECKS)
def test_the_clients_tell_what_does_not_belong(name: str, path: tuple[Any, ...]) -> None:
    body = rendered(name, User("hi"))
    place: Any = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = 1
    with pytest.raises((AssertionError, TypeError)):
        CHECKS[name](body)


def what(reply: Reply) -> Any:
    """A reply but for its ids, which Ollama's client does not give. Nor does it read arguments that are no
    object: the server has none."""
    calls = [(call.name, call.arguments) for call in (*reply.message.calls, *reply.cut_calls)]
    return reply.message.text, calls, reply.message.opaque, reply.stop, reply.usage.input_tokens


@pytest.mark.parametrize(
    "kind", [name for name in Peer("ollama").turn_names() if name not in ("a malformed call", "incomplete")]
)
def test_ollamas_client_reads_the_fakes_answers_as_they_are_read_here(kind: str) -> None:
    peer = Peer("ollama")
    body, frames = peer.as_sent(kind)
    whole, *more = read_by_ollama(json.dumps(body).encode(), stream=False)
    assert not more and what(peer.reads(whole)) == what(peer.reads(body))
    pieces = read_by_ollama(b"".join(frames), stream=True)
    stream = get_format("ollama").parse_stream()
    for piece in pieces:
        stream.feed(json.dumps(piece).encode() + b"\n")
    assert what(stream.end()) == what(peer.reads(body))
    assert "".join(piece["message"].get("content", "") for piece in pieces) == body["message"]["content"]


def test_of_the_peers_some_speak_to_these_clients() -> None:
    assert CHECKS.keys() <= set(PEERS)
