"""``toolspan export``: to the byte what a provider would get, the key never in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest

from tests.support.cli import toolspan, toolspan_process
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.waiting import BOUND_S
from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.providers.settings.environment import key_from, keys_as_variables
from toolspan_bridge.providers.wire.wire_request import encode

pytestmark = pytest.mark.requirement("I5.2.4")

KEY = "sk-very-secret"
DESCRIPTION = "What's up? Größe"
PARAMETERS = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
CONFIG = {
    "name": "shop",
    "tools": {
        "registry": [
            {
                "name": name,
                "description": DESCRIPTION,
                "parameters": PARAMETERS,
                "implementation": {"type": "mock", "mock_response": {}},
            }
            for name in ("first", "second")
        ]
    },
    "responses": [
        {
            "match": {"intent_regexp": "only one"},
            "tools": {"enabled": True, "allowed_tools": ["first"]},
            "prompt": "Be brief. {{user_message}}",
        }
    ],
}
SPECS = [ToolSpec("shop", name, DESCRIPTION, PARAMETERS) for name in ("first", "second")]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.json").write_text(json.dumps(CONFIG))
    return tmp_path


@pytest.fixture
def provider() -> Iterator[tuple[str, list[Any]]]:
    """An address that keeps what it is sent: path, headers, body."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            seen.append((self.path, dict(self.headers), body))
            answer = json.dumps({"choices": [{"message": {"content": "hi"}}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["anthropic", "gemini", "prompt"])
def test_the_payload_of_a_format_is_printed_byte_for_byte(shop: Path, name: str) -> None:
    ran = toolspan("export", "--format", name, cwd=shop)
    tools = get_format(name).render_tools(SPECS, NameTable.of(SPECS))
    assert ran.code == 0
    assert ran.out.encode() == encode(tools)


def test_pretty_is_the_same_for_reading(shop: Path) -> None:
    ran = toolspan("export", "--format", "gemini", "--pretty", cwd=shop)
    assert ran.out.startswith('[\n  {\n    "functionDeclarations"')


@pytest.mark.anyio
@pytest.mark.requirement("I11.3.3")
@pytest.mark.parametrize("limits", [{}, {"tools_offered": 1}], ids=["as they are", "beyond the limit"])
async def test_the_first_request_is_what_the_provider_is_really_sent(
    shop: Path, provider: tuple[str, list[Any]], limits: dict[str, int]
) -> None:
    address, seen = provider
    (shop / "toolspan.json").write_text(json.dumps({**CONFIG, "limits": limits}))
    asked = ("--model", "openai/gpt-x", "Größe of 'it'?")

    def both() -> tuple[str, str]:
        shown = toolspan(
            "export", "--request", asked[2], *asked[:2], cwd=shop, OPENAI_BASE_URL=address, OPENAI_API_KEY=KEY
        )
        toolspan("ask", *asked, "--json", cwd=shop, OPENAI_BASE_URL=address, OPENAI_API_KEY=KEY)
        return shown.out, shown.err

    out, err = await anyio.to_thread.run_sync(both)
    sent = json.loads(seen[0][2])
    ours = json.loads(out)
    assert {key: sent[key] for key in ours} == ours
    assert sent.keys() - ours.keys() <= {"prompt_cache_key", "stream", "stream_options"}
    assert ("search_tools" in err) == bool(limits)
    names = ["tool_search__search_tools"] if limits else ["shop__first", "shop__second"]
    assert [tool["function"]["name"] for tool in ours["tools"]] == names


@pytest.mark.requirement("I11.3.3")
@pytest.mark.parametrize("model", ["openai/gpt-5.4", "anthropic/claude-opus-4-8"])
def test_a_request_leaves_tools_to_the_provider_s_search_as_a_question_does(shop: Path, model: str) -> None:
    (shop / "toolspan.json").write_text(json.dumps({**CONFIG, "limits": {"tools_offered": 1}}))
    ran = toolspan("export", "--request", "hi", "--model", model, cwd=shop)
    assert '"defer_loading":true' in ran.out and "tool_search" in ran.out
    assert "search_tools" not in ran.out + ran.err


@pytest.mark.requirement("I11.3.3")
@pytest.mark.parametrize(
    "model", ["vertex-claude/claude-opus-4-8", "bedrock-mantle/anthropic.claude-opus-4-8"]
)
def test_where_the_provider_has_no_search_a_request_has_ours(shop: Path, model: str) -> None:
    (shop / "toolspan.json").write_text(json.dumps({**CONFIG, "limits": {"tools_offered": 1}}))
    account = {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-east5", "AWS_REGION": "us-east-1"}
    ran = toolspan("export", "--request", "hi", "--model", model, cwd=shop, **account)
    assert "defer_loading" not in ran.out, ran.err
    assert "tool_search__search_tools" in ran.out and "search_tools" in ran.err


def test_the_curl_command_sends_exactly_that_with_the_key_from_its_variable(
    shop: Path, provider: tuple[str, list[Any]]
) -> None:
    if (shell := shutil.which("sh")) is None or shutil.which("curl") is None:
        pytest.skip("no curl here")
    address, seen = provider
    question = 'It\'s "$HOME" `id` \\ and\na line'
    options = ("export", "--request", question, "--model", "openai/gpt-x")
    environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}
    body = toolspan(*options, cwd=shop, **environment).out
    command = toolspan(*options, "--curl", cwd=shop, **environment).out
    assert KEY not in command and "$OPENAI_API_KEY" in command
    subprocess.run(
        [shell, "-c", command], env={"PATH": os.environ["PATH"], **environment}, check=True, timeout=BOUND_S
    )
    ((path, headers, sent),) = seen
    assert path == "/v1/chat/completions" and sent == body.encode()
    assert {key.lower(): value for key, value in headers.items()}["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("model", "address", "header"),
    [
        ("openai/m", "https://api.openai.com/v1/responses", 'Bearer \'"$OPENAI_API_KEY"'),
        ("openai-chat/m", "https://api.openai.com/v1/chat/completions", 'Bearer \'"$OPENAI_API_KEY"'),
        ("groq/m", "https://api.groq.com/openai/v1/chat/completions", '"$GROQ_API_KEY"'),
        (
            "gemini/gemini-3-pro",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
            "'x-goog-api-key: '\"$GEMINI_API_KEY\"",
        ),
        (
            "bedrock/a.b:0",
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a.b%3A0/converse",
            '"$AWS_BEARER_TOKEN_BEDROCK"',
        ),
        ("vllm/m", "http://127.0.0.1:8000/v1/chat/completions", "'content-type: application/json'"),
    ],
)
def test_no_key_is_needed_to_see_a_request(shop: Path, model: str, address: str, header: str) -> None:
    ran = toolspan("export", "--request", "hi", "--model", model, "--curl", cwd=shop, AWS_REGION="eu-west-1")
    assert ran.code == 0, ran.err
    assert address in ran.out and header in ran.out


@pytest.mark.requirement("I11.1.1")
def test_a_format_chooses_between_the_two_of_openai(shop: Path) -> None:
    asked = ("export", "--request", "hi", "--model", "openai/m")
    plain, as_chat = toolspan(*asked, cwd=shop), toolspan(*asked, "--format", "openai", cwd=shop)
    assert "input" in plain.json and "messages" in as_chat.json
    address = toolspan(*asked, "--format", "openai", "--curl", cwd=shop).out
    assert "https://api.openai.com/v1/chat/completions" in address


COUNT = ("export", "--request", "hi", "--model", "anthropic/claude-x", "--count-tokens")


@pytest.mark.requirement("I11.3.7")
def test_the_tokens_of_the_first_request_are_counted_by_the_provider(shop: Path) -> None:
    with FakeProvider(anything, [Sent({"input_tokens": 321})] * 2) as fake:
        held = {"ANTHROPIC_BASE_URL": fake.url, "ANTHROPIC_API_KEY": KEY}
        plain, as_json = toolspan(*COUNT, cwd=shop, **held), toolspan(*COUNT, "--json", cwd=shop, **held)
    assert (plain.code, plain.out) == (0, "321\n"), plain.err
    assert as_json.json == {"model": "anthropic/claude-x", "input_tokens": 321}
    counted = fake.received[0]
    shown = toolspan(*COUNT[:-1], cwd=shop).json
    assert counted.target == "/v1/messages/count_tokens" and counted.headers["x-api-key"] == KEY
    assert [counted.body[part] for part in ("messages", "tools")] == [shown["messages"], shown["tools"]]


@pytest.mark.requirement("I11.3.7")
def test_a_count_that_cannot_be_had_is_an_error_with_its_exit_code(shop: Path) -> None:
    assert toolspan(*COUNT, "--json", cwd=shop).code == 3
    refusal = {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}}
    with FakeProvider(anything, [Sent(refusal, 404)]) as fake:
        held = {"ANTHROPIC_BASE_URL": fake.url, "ANTHROPIC_API_KEY": KEY}
        assert toolspan(*COUNT, "--json", cwd=shop, **held).error["code"] == "unknown_model"
    none = toolspan(*COUNT[:-3], "--model", "groq/x", COUNT[-1], "--json", cwd=shop, GROQ_API_KEY=KEY)
    assert none.code == 2 and "no endpoint that counts" in none.error["message"]


@pytest.mark.requirement("I11.3.7")
def test_nothing_is_counted_at_an_address_that_a_found_config_brings(shop: Path) -> None:
    with FakeProvider(anything, []) as fake:
        house = {"base_url": fake.url, "format": "anthropic", "key_env": "HOUSE_KEY"}
        (shop / "toolspan.json").write_text(json.dumps({**CONFIG, "providers": {"house": house}}))
        asked = (*COUNT[:-3], "--model", "house/m", COUNT[-1], "--json")
        ran = toolspan(*asked, cwd=shop, HOUSE_KEY=KEY)
    assert (ran.code, ran.error["code"], fake.received) == (2, "consent", [])


def test_keys_are_real_again_outside_of_a_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with keys_as_variables() as used:
        assert key_from("openai", "OPENAI_API_KEY") == "$OPENAI_API_KEY"
    assert key_from("openai", "OPENAI_API_KEY") == KEY
    assert used == {"OPENAI_API_KEY"}


def test_the_route_of_the_question_decides_its_tools_and_prompt(shop: Path) -> None:
    ran = toolspan(
        "export", "--request", "only one", "--format", "anthropic", "--model", "claude-x", cwd=shop
    )
    assert [tool["name"] for tool in ran.json["tools"]] == ["shop__first"]
    assert ran.json["model"] == "claude-x" and "Be brief." in json.dumps(ran.json)


@pytest.mark.requirement("I5.2.1")
def test_strict_shows_what_strict_tools_would_be(shop: Path) -> None:
    ran = toolspan("export", "--format", "openai", "--strict", cwd=shop)
    assert [tool["function"]["strict"] for tool in ran.json] == [True, True]
    assert "info: shop__first: closed-object" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name a format"),
        (("--format", "openai", "--curl"), "add --request"),
        (("--format", "openai", "--count-tokens"), "add --request"),
        (("--request", "hi", "--model", "openai/m", "--count-tokens", "--curl"), "prints a number"),
        (("--request", "hi", "--model", "m", "--format", "openai", "--count-tokens"), "PROVIDER/MODEL"),
        (("--request", "hi", "--format", "openai"), "--model PROVIDER/MODEL"),
        (("--request", " ", "--model", "openai/m"), "question is empty"),
        (
            ("--request", "hi", "--model", "openai/m", "--format", "gemini"),
            "speaks openai-responses and openai, not",
        ),
        (("--request", "hi", "--model", "some", "--format", "openai", "--curl"), "--model PROVIDER/MODEL"),
        (("--request", "hi", "--model", "some"), "names no provider"),
        (("--request", "hi", "--model", "offline/keyword"), "answers without any request"),
    ],
)
def test_words_that_do_not_go_together_are_refused(shop: Path, options: tuple[str, ...], said: str) -> None:
    ran = toolspan("export", *options, "--json", cwd=shop, TOOLSPAN_MODEL="")
    assert ran.code == 2 and said in ran.error["message"] and ran.out == ""


def test_a_pipe_gets_the_bytes_and_nothing_more(shop: Path) -> None:
    ran = toolspan_process("export", "--format", "openai", cwd=shop, PYTHONIOENCODING="latin-1")
    assert ran.out.endswith("}]") and json.loads(ran.out)
