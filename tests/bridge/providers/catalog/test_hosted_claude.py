"""Claude at others by Anthropic's API: Vertex AI, and Bedrock's Mantle endpoint."""

from __future__ import annotations

import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.mcp_peers import raw
from tests.support.provider_cases import ANSWERED, ask, stream
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from tests.support.wires import anthropic as wire
from toolspan_bridge.errors import AuthError, UsageError
from toolspan_bridge.loop import Question, answer
from toolspan_bridge.messages import Request
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.wire.token_counts import CountsTokens
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.8")]

TOKEN = "ya29.test-token"
PLACE = "projects/p-1/locations/europe-west4"
MODEL = "claude-opus-4@20250514"
CALLS = [("toolu_1", "config__get_weather", {"location": "Paris"})]
SSE = {"content-type": "text/event-stream"}
BOUND = {
    "error": {"type": "invalid_request_error", "message": "The block is bound to a different conversation."}
}


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in {
        "VERTEX_ACCESS_TOKEN": TOKEN,
        "GOOGLE_CLOUD_PROJECT": "p-1",
        "GOOGLE_CLOUD_LOCATION": "europe-west4",
        "AWS_BEARER_TOKEN_BEDROCK": TOKEN,
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def checked(name: str, model: str, *, streamed: bool = False) -> Any:
    if name == "bedrock-mantle":
        return checks.bedrock_mantle(TOKEN)
    return checks.vertex_claude(TOKEN, PLACE, model, streamed=streamed)


def at(fake: FakeProvider, env: pytest.MonkeyPatch) -> None:
    env.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
    env.setenv("ANTHROPIC_BEDROCK_MANTLE_BASE_URL", fake.url)


each = pytest.mark.parametrize("name", ["vertex-claude", "bedrock-mantle"])


@each
async def test_a_call_and_its_answer(name: str, env: pytest.MonkeyPatch) -> None:
    own = ("web_search", "web_fetch")
    replies = [Sent(wire.answer("I look.", CALLS)), Sent(wire.answer("22 °C"))]
    with FakeProvider(checked(name, MODEL), replies) as fake:
        at(fake, env)
        first = await ask(f"{name}/{MODEL}", builtins=own, system="Be brief.")
        second = await ask(f"{name}/{MODEL}", messages=ANSWERED)
    assert first.message.calls[0].arguments == {"location": "Paris"}
    left_out = ["web_fetch"] if name == "vertex-claude" else list(own)
    assert [note.split()[3].rstrip(":") for note in first.notes] == left_out
    assert second.message.text == "22 °C"
    marked = fake.received[1].body["messages"][-1]["content"][-1]
    assert marked["type"] == "tool_result" and marked["cache_control"] == {"type": "ephemeral"}


@each
@pytest.mark.requirement("I11.3.3")
async def test_of_too_many_tools_it_is_sent_a_search_since_it_has_none_of_its_own(
    name: str, env: pytest.MonkeyPatch
) -> None:
    with FakeProvider(checked(name, MODEL), [Sent(wire.answer("Hello."))]) as fake:
        at(fake, env)
        provider, model = resolve_model(f"{name}/{MODEL}", instant())
        async with aclosing(provider), Toolbox.connect([raw()]) as toolbox:
            await answer(Question("Hello", model, tools_offered=2), provider, toolbox)
    assert [tool["name"] for tool in fake.received[0].body["tools"]] == ["tool_search__search_tools"]


@each
async def test_it_streams(name: str, env: pytest.MonkeyPatch) -> None:
    reply = Sent(b"".join(wire.frames("22 °C")), headers=SSE)
    with FakeProvider(checked(name, MODEL, streamed=True), [reply]) as fake:
        at(fake, env)
        assert (await stream(f"{name}/{MODEL}"))[0] == "22 °C"
    assert fake.received[0].body["stream"] is True


@each
async def test_thoughts_behind_a_changed_beginning_are_left_out(name: str, env: pytest.MonkeyPatch) -> None:
    replies = [Sent(BOUND, status=400), Sent(wire.answer("Seven."))]
    with FakeProvider(checked(name, "claude-opus-5-5"), replies) as fake:
        at(fake, env)
        reply = await ask(f"{name}/claude-opus-5-5")
    assert reply.message.text == "Seven." and len(reply.notes) == 1


async def test_without_a_token_project_or_region_no_request_is_made(env: pytest.MonkeyPatch) -> None:
    env.delenv("GOOGLE_CLOUD_PROJECT")
    env.delenv("AWS_REGION")
    with pytest.raises(UsageError, match="vertex-claude needs a project"):
        resolve_model(f"vertex-claude/{MODEL}")
    with pytest.raises(UsageError, match="bedrock-mantle needs a region"):
        resolve_model(f"bedrock-mantle/{MODEL}")
    env.delenv("VERTEX_ACCESS_TOKEN")
    with pytest.raises(AuthError, match=r"vertex-claude needs a key and .*VERTEX_ACCESS_TOKEN"):
        resolve_model(f"vertex-claude/{MODEL}")


@pytest.fixture
def credentials(env: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Those of the AWS chain, and no key."""
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        env.delenv(name, raising=False)
    env.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        env.setenv(name, str(tmp_path / name))
    env.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    env.setenv("AWS_SECRET_ACCESS_KEY", "secret/1")
    return env


@pytest.mark.requirement("I11.3.23")
async def test_mantle_is_asked_with_a_signature_where_there_is_no_key(
    credentials: pytest.MonkeyPatch,
) -> None:
    check = checks.bedrock_mantle("", ("AKIDEXAMPLE", "secret/1", "us-east-1"))
    whole = [Sent(wire.answer("I look.", CALLS)), Sent(wire.answer("22 °C"))]
    streamed = Sent(b"".join(wire.frames("22 °C")), headers=SSE)
    with FakeProvider(
        check, [*whole, streamed, Sent(BOUND, status=400), Sent(wire.answer("Seven."))]
    ) as fake:
        at(fake, credentials)
        await ask("bedrock-mantle/claude-opus-5-5")
        await ask("bedrock-mantle/claude-opus-5-5", messages=ANSWERED)
        assert (await stream("bedrock-mantle/claude-opus-5-5", messages=ANSWERED))[0] == "22 °C"
        await ask("bedrock-mantle/claude-opus-5-5")
    last = fake.received[-1].headers
    assert "anthropic-beta" in last["authorization"] and last["anthropic-beta"]


@pytest.mark.requirement("I11.3.23")
async def test_mantle_without_key_and_credentials_asks_nobody(credentials: pytest.MonkeyPatch) -> None:
    credentials.delenv("AWS_ACCESS_KEY_ID")
    with FakeProvider(checks.bedrock_mantle(""), []) as fake:
        at(fake, credentials)
        with pytest.raises(AuthError, match="bedrock-mantle needs credentials: set AWS_BEARER_TOKEN_BEDROCK"):
            await ask(f"bedrock-mantle/{MODEL}")
    assert fake.received == []


@pytest.mark.requirement("I11.3.23")
def test_mantle_without_key_and_botocore_names_the_extra(credentials: pytest.MonkeyPatch) -> None:
    credentials.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(AuthError, match=r"bedrock-mantle has no .*pip install 'toolspan\[bedrock\]'"):
        resolve_model(f"bedrock-mantle/{MODEL}")


@pytest.mark.requirement("I11.3.7")
@each
async def test_tokens_are_counted_there(name: str, env: pytest.MonkeyPatch) -> None:
    with FakeProvider(anything, [Sent({"input_tokens": 44})]) as fake:
        at(fake, env)
        provider, model = resolve_model(f"{name}/{MODEL}", instant())
        assert isinstance(provider, CountsTokens)
        async with aclosing(provider):
            request = Request(model, ANSWERED, "Be brief.", SEED_TOOLS, max_tokens=9)
            assert await provider.count_tokens(request) == 44
    (asked,) = fake.received
    place = "/v1/messages/count_tokens"
    if name == "vertex-claude":
        place = f"/v1/{PLACE}/publishers/anthropic/models/count-tokens:rawPredict"
    assert asked.target == place
    assert asked.body["model"] == MODEL and {"messages", "system", "tools"} <= asked.body.keys()
    assert not {"max_tokens", "cache_control", "stream"} & asked.body.keys()
