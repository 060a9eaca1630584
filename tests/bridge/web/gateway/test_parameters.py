"""Parameters of requests: passed on where the provider takes them, else refused or named, never dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.gateway import Gateway, gateway
from tests.support.local_tools import turn
from tests.support.wire_peers import Peer, streamed, wires
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, User

ASKED: list[Any] = [{"role": "user", "content": "Hello"}]
SETTINGS: dict[str, Any] = {
    "top_p": 0.5,
    "top_k": 7,
    "min_p": 0.1,
    "seed": 42,
    "frequency_penalty": 0.25,
    "presence_penalty": -0.25,
    "repetition_penalty": 1.1,
    "logit_bias": {"50256": -100.0},
    "stop": ["END"],
    "user": "emma",
    "service_tier": "default",
    "verbosity": "low",
}
SENT: dict[str, dict[str, Any]] = {
    "openai": SETTINGS,
    "openai-responses": {
        "top_p": 0.5,
        "user": "emma",
        "service_tier": "default",
        "text": {"verbosity": "low"},
    },
    "anthropic": {"top_p": 0.5, "top_k": 7, "stop_sequences": ["END"], "metadata": {"user_id": "emma"}},
    "bedrock-anthropic": {"top_p": 0.5, "top_k": 7, "stop_sequences": ["END"]},
    "bedrock": {
        "inferenceConfig": {"topP": 0.5, "stopSequences": ["END"]},
        "serviceTier": {"type": "default"},
    },
    "gemini": {
        "generationConfig": {
            "topP": 0.5,
            "topK": 7,
            "seed": 42,
            "frequencyPenalty": 0.25,
            "presencePenalty": -0.25,
            "stopSequences": ["END"],
        }
    },
    "ollama": {
        "options": {
            "top_p": 0.5,
            "top_k": 7,
            "min_p": 0.1,
            "seed": 42,
            "frequency_penalty": 0.25,
            "presence_penalty": -0.25,
            "repeat_penalty": 1.1,
            "stop": ["END"],
        }
    },
}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}")
    else:
        yield path, value


@pytest.mark.requirement("I25.5.4")
@pytest.mark.parametrize("wire_format", SENT)
def test_each_format_sends_the_settings_it_has_a_place_for_and_names_the_others(wire_format: str) -> None:
    wire = get_format(wire_format)
    plain = Request("m", (User("Hello"),))
    asked = Request("m", (User("Hello"),), settings=SETTINGS)
    sent = dict(leaves(wire.render_request(asked, NameTable.of(()))))
    before = dict(leaves(wire.render_request(plain, NameTable.of(()))))
    added = {path: value for path, value in sent.items() if path not in before}
    assert added == dict(leaves(SENT[wire_format]))
    notes = wire.request_notes(asked)  # type: ignore[attr-defined]
    named = {name for name in SETTINGS if any(f"takes no {name} here" in note for note in notes)}
    assert named == SETTINGS.keys() - set(_passed(wire_format)) - {"stop", "service_tier"}


def _passed(wire_format: str) -> Iterator[str]:
    values = [value for _, value in leaves(SENT[wire_format])]
    yield from (name for name, value in SETTINGS.items() if value in values)
    if wire_format == "openai":
        yield "logit_bias"


@pytest.mark.requirement("I25.5.4")
def test_every_format_has_a_row_of_settings() -> None:
    assert SENT.keys() == set(format_names()) - {"prompt"}


@pytest.mark.requirement("I25.5.4")
@pytest.mark.parametrize(
    ("wire_format", "model", "left_out"),
    [
        ("openai", "gpt-5.1", {"top_p", "frequency_penalty", "presence_penalty", "logit_bias", "top_k"}),
        ("openai-responses", "o3", {"top_p"}),
        ("anthropic", "claude-opus-5", {"top_p", "top_k"}),
        ("bedrock", "anthropic.claude-opus-4-7", {"top_p"}),
    ],
)
def test_a_model_that_takes_no_temperature_gets_no_other_setting_of_sampling(
    wire_format: str, model: str, left_out: set[str]
) -> None:
    wire = get_format(wire_format)
    asked = Request(model, (User("Hello"),), settings=SETTINGS)
    sent = json.dumps(wire.render_request(asked, NameTable.of(())))
    assert not any(f'"{name}"' in sent for name in (*left_out, "topP"))
    notes = wire.request_notes(asked)  # type: ignore[attr-defined]
    assert all(f"{model} takes no {name} here: it is left out" in notes for name in left_out)


class Answering(FakeProvider):
    """Says yes, whole or in pieces; refuses a body that has one of ``refused``."""

    def __init__(self, wire_format: str, *refused: str) -> None:
        super().__init__(anything, [])
        self._wire = wire_format
        self._refused = refused

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        for name in self._refused:
            if name in request.body:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return Sent(wires(self._wire).error(said, "invalid_request_error"), status=400)
        if request.target.endswith("in-pieces"):
            return streamed(self._wire, *wires(self._wire).frames("Yes."))
        return Sent(wires(self._wire).answer("Yes."))


@contextmanager
def answering(wire_format: str, *refused: str) -> Iterator[tuple[Gateway, Answering]]:
    with Answering(wire_format, *refused) as fake, gateway(Peer(wire_format, fake.url)) as served:
        yield served, fake


def ask(served: Gateway, path: str, *, in_pieces: bool = False, **more: Any) -> httpx.Response:
    body: dict[str, Any] = {"model": "m/x", "stream": in_pieces}
    body |= {"input": "Hello"} if path.endswith("responses") else {"messages": ASKED}
    body |= {"max_tokens": 50} if path.endswith("messages") else {}
    return httpx.post(f"{served.url}{path}", json=body | more, timeout=30)


CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"


@pytest.mark.requirement("I25.5.4")
@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "streamed"])
def test_a_clients_settings_reach_the_provider(in_pieces: bool) -> None:
    with answering("openai") as (served, fake):
        more = {**SETTINGS, "stop": "END"}
        assert ask(served, CHAT, in_pieces=in_pieces, **more).status_code == 200
        assert {name: fake.received[-1].body.get(name) for name in SETTINGS} == SETTINGS
        more = {
            "top_p": 0.5,
            "safety_identifier": "emma",
            "text": {"verbosity": "low"},
            "service_tier": "flex",
        }
        assert ask(served, RESPONSES, in_pieces=in_pieces, **more).status_code == 200
        known = {"top_p": 0.5, "user": "emma", "verbosity": "low", "service_tier": "flex"}
        assert {name: fake.received[-1].body.get(name) for name in known} == known
        more = {"top_p": 0.5, "top_k": 7, "metadata": {"user_id": "emma"}}
        assert ask(served, MESSAGES, in_pieces=in_pieces, **more).status_code == 200
        known = {"top_p": 0.5, "top_k": 7, "user": "emma"}
        assert {name: fake.received[-1].body.get(name) for name in known} == known


@pytest.mark.requirement("I25.5.4")
@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_what_only_tunes_and_is_not_taken_is_named_in_a_header_every_time(path: str, in_pieces: bool) -> None:
    with answering("openai", "top_p") as (served, _):
        for _ in range(2):
            answer = ask(served, path, in_pieces=in_pieces, top_p=0.5, unheard_of=1)
            assert answer.status_code == 200
            assert "acme does not take 'top_p' for x, it is left out" in answer.headers["x-toolspan-warning"]
            assert "'unheard_of' has no effect here" in answer.headers["x-toolspan-warning"]
    with answering("gemini") as (served, _):
        answer = ask(served, CHAT, in_pieces=in_pieces, logit_bias={"1": 1}, user="emma", seed=3)
        told = answer.headers["x-toolspan-warning"]
        assert "takes no logit_bias here" in told and "takes no user here" in told and "seed" not in told


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (CHAT, {"n": 2}, "n"),
    (CHAT, {"logprobs": True}, "logprobs"),
    (CHAT, {"top_logprobs": 3}, "top_logprobs"),
    (CHAT, {"modalities": ["text", "audio"]}, "modalities"),
    (CHAT, {"functions": [{"name": "x"}]}, "functions"),
    (RESPONSES, {"top_logprobs": 3}, "top_logprobs"),
    (RESPONSES, {"include": ["message.output_text.logprobs"]}, "include"),
    (RESPONSES, {"n": 2}, "n"),
    (RESPONSES, {"background": True}, "background"),
    (MESSAGES, {"container": "c"}, "container"),
    (CHAT, {"top_p": 1.5}, "top_p"),
    (CHAT, {"seed": "7"}, "seed"),
    (CHAT, {"frequency_penalty": -3}, "frequency_penalty"),
    (CHAT, {"logit_bias": {"1": 101}}, "logit_bias"),
    (CHAT, {"user": "x" * 600}, "user"),
    (MESSAGES, {"top_k": -1}, "top_k"),
]


@pytest.mark.requirement("I25.5.4")
@pytest.mark.parametrize(("path", "more", "name"), REFUSED)
def test_what_changes_the_answer_or_is_of_no_use_is_refused_by_name(
    path: str, more: dict[str, Any], name: str
) -> None:
    with answering("openai") as (served, fake):
        answer = ask(served, path, **more)
        assert (answer.status_code, fake.received) == (400, [])
        assert name in answer.json()["error"]["message"]


@pytest.mark.requirement("I25.5.4")
def test_what_only_says_what_holds_anyhow_is_nobodys_loss() -> None:
    usual = {"n": 1, "logprobs": False, "top_logprobs": 0, "store": False, "functions": [], "logit_bias": {}}
    with answering("openai") as (served, _):
        answer = ask(served, CHAT, **usual, top_p=None, seed=None, function_call="auto")
        assert (answer.status_code, answer.headers.get("x-toolspan-warning")) == (200, None)


FUNCTION = {"type": "function", "name": "exec", "parameters": {"type": "object", "properties": {}}}
OTHERS: list[dict[str, Any]] = [
    {"type": "web_search", "external_web_access": True},
    {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}},
    {"type": "image_generation"},
    {"type": "local_shell"},
    {"type": "mcp", "server_label": "x", "server_url": "https://example.com"},
]


@pytest.mark.requirement("I25.5.6")
@pytest.mark.parametrize("other", OTHERS, ids=lambda tool: tool["type"])
def test_tools_of_the_providers_own_beside_the_clients_are_left_out_by_name(other: dict[str, Any]) -> None:
    with answering("openai") as (served, fake):
        answer = ask(served, RESPONSES, tools=[FUNCTION, other], reasoning={"effort": "ultra"})
        assert answer.status_code == 200
        assert repr(other["type"]) in answer.headers["x-toolspan-warning"]
        assert [tool["function"]["name"] for tool in fake.received[-1].body["tools"]] == ["exec"]
        alone = ask(served, RESPONSES, tools=[other])
        assert (alone.status_code, "cannot be taken here" in alone.text) == (400, True)


@pytest.mark.requirement("I25.5.6")
def test_a_tool_of_a_namespace_is_called_and_comes_back_by_the_names_of_the_client() -> None:
    turns = [turn(("agents__close", {"id": 1})), {"text": "Closed."}]
    space = {
        "type": "namespace",
        "name": "agents",
        "description": "d",
        "tools": [{**FUNCTION, "name": "close"}],
    }
    other = {**space, "name": "files"}
    with gateway(turns) as served:
        first = ask(served, RESPONSES, tools=[FUNCTION, space, other]).json()
        assert [tool.name for tool in served.requests[0].tools] == ["exec", "agents__close", "files__close"]
        (call,) = first["output"]
        assert (call["type"], call["namespace"], call["name"]) == ("function_call", "agents", "close")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "done"}
        given = [{"role": "user", "content": "Hello"}, call, result]
        second = ask(served, RESPONSES, tools=[FUNCTION, space, other], input=given).json()
        assert second["output"][0]["content"][0]["text"] == "Closed."


GHOST = {"type": "object", "properties": {"q": {"type": "string", "enum": ["a", ""]}}, "required": ["gone"]}
BAD = {"type": "object", "properties": {"q": {"$ref": "#/$defs/none"}}}


@pytest.mark.requirement("I25.5.5")
@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "streamed"])
def test_a_tool_that_is_left_out_or_repaired_is_named_in_a_header(in_pieces: bool) -> None:
    tools = [
        {"type": "function", "function": {"name": "ghost", "parameters": GHOST}},
        {"type": "function", "function": {"name": "bad", "parameters": BAD}},
    ]
    with answering("gemini") as (served, fake):
        for _ in range(2):
            told = ask(served, CHAT, in_pieces=in_pieces, tools=tools).headers["x-toolspan-warning"]
            assert "the tool 'bad' is left out" in told
            assert "the tool 'ghost' is sent changed: 'gone' not sent as required" in told
        (declared,) = fake.received[-1].body["tools"][0]["functionDeclarations"]
        assert (declared["name"], "required" in declared["parametersJsonSchema"]) == ("ghost", False)
        assert declared["parametersJsonSchema"]["properties"]["q"]["enum"] == ["a"]
