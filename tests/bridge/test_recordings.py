"""Every recording of a live provider, replayed: what was accepted is sent again, what came is understood."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.recordings import FOLDER, Recording, read, recordings
from tests.support.seed_tools import SEED_TOOLS
from tests.support.wire_peers import FORMATS, KEY, Peer, streamed, wires
from toolspan_bridge.errors import ProviderError, StoreError
from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Assistant, Reply, Request, ToolResults, User
from toolspan_bridge.providers import Provider, ProviderPool
from toolspan_bridge.providers.wire.recording import Recorder
from toolspan_server import load_config

RECORDINGS = recordings()
LIMITS = {"max_tokens", "max_completion_tokens", "max_output_tokens", "stop"}
BOTH_WIRES = [
    ("openai/m", "openai"),
    ("prompt:openai/m", "prompt:openai"),
    ("azure/m", "openai"),
    ("openai-chat/m", "openai"),
]
SECRET = "value-of-the-config-0123456789"
OTHER = "value-of-no-provider-0123456789"
ASKED = Request("m", (User("What is the weather?"),), tools=SEED_TOOLS, max_tokens=100)
CALLS = [("c1", "config__get_weather", {"location": "Oslo"})]


def replayed(recording: Recording, size: int | None = None) -> Reply:
    """The answer, as its format reads it; a stream in pieces of ``size`` bytes."""
    wire = get_format(recording.format)
    if not recording.streamed:
        return wire.parse_reply(recording.reply)
    parser = wire.parse_stream()
    data, size = recording.reply, size or len(recording.reply)
    for start in range(0, len(data), size):
        parser.feed(data[start : start + size])
    return parser.end()


async def last_reply(provider: Provider, request: Request, *, stream: bool) -> Reply:
    if not stream:
        return await provider.answer(request)
    return [item async for item in provider.stream(request) if isinstance(item, Reply)][-1]


def without_limits(body: dict[str, Any]) -> dict[str, Any]:
    """``body`` without its limits, which each row calls in its own way, or has got since."""
    return {key: value for key, value in body.items() if key not in LIMITS}


named = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.path.stem)


@pytest.mark.requirement("I11.5.1")
@named
def test_what_a_live_provider_accepted_is_sent_again(recording: Recording) -> None:
    names = NameTable.of(recording.asked.tools)
    body = get_format(recording.format).render_request(recording.asked, names)
    assert without_limits(json.loads(json.dumps(body))) == without_limits(recording.body)


@pytest.mark.requirement("I11.5.1")
@named
def test_what_a_live_provider_answered_is_understood_in_pieces_of_any_size(recording: Recording) -> None:
    if recording.status != 200:
        error = get_format(recording.format).parse_error(recording.status, {}, recording.reply)
        assert error.message
        return
    reply = replayed(recording)
    assert not reply.incomplete
    assert reply.stop != "error"
    assert reply.message.text or reply.message.calls or reply.cut_calls
    assert reply.usage.output_tokens > 0
    assert [replayed(recording, size) for size in (1, 7, 1_000)] == [reply] * 3


@pytest.mark.requirement("I11.5.1")
def test_the_recordings_hold_second_turns_and_each_answer_can_be_sent_back() -> None:
    turns = {type(message) for recording in RECORDINGS for message in recording.asked.messages}
    assert turns == {User, Assistant, ToolResults}
    for recording in RECORDINGS:
        message = replayed(recording).message
        after = replace(recording.asked, messages=(*recording.asked.messages, message, User("And then?")))
        wire = get_format(recording.format)
        assert wire.render_request(after, NameTable.of(after.tools))


@pytest.mark.requirement("I11.5.1")
def test_recordings_that_are_kept_name_no_file_of_the_machine_they_come_from() -> None:
    assert RECORDINGS
    for path in FOLDER.glob("*.json"):
        text = path.read_text("utf-8")
        assert not any(place in text for place in ("/home/", "/root/", "/tmp/", "/Users/", "Bearer "))


@pytest.mark.anyio
@pytest.mark.requirement("I11.5.2")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", FORMATS)
async def test_an_exchange_of_any_format_is_recorded_and_replayed(
    name: str, stream: bool, tmp_path: Path
) -> None:
    frames, _ = next(iter(wires(name).STREAMS.values()))
    sent = streamed(name, *frames) if stream else Sent(wires(name).answer(calls=CALLS))
    with FakeProvider(anything, [sent]) as fake:
        provider = Peer(name, fake.url)
        provider.recorded(Recorder(tmp_path / "kept", str))
        reply = await last_reply(provider, ASKED, stream=stream)
        await provider.aclose()
        accepted = fake.received[0].body
    (recording,) = recordings(tmp_path / "kept")
    assert (recording.provider, recording.format, recording.streamed) == ("acme", name, stream)
    assert recording.asked == replace(ASKED, stream=stream)
    assert recording.body == accepted
    assert replayed(recording, 5).message == replace(reply.message, origin="")


@pytest.mark.anyio
@pytest.mark.requirement("I11.5.2")
async def test_a_recording_holds_no_key_no_header_and_no_value_of_the_config_and_is_its_owners_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    monkeypatch.setenv("TEAM", SECRET)
    monkeypatch.setenv("ELSEWHERE", OTHER)
    monkeypatch.setenv("TOOLSPAN_RECORD", str(tmp_path / "kept"))
    file = tmp_path / "own.yaml"
    own = {"format": "openai", "key_env": "OWN_KEY", "headers": {"X-Team": "${TEAM}"}}
    with FakeProvider(anything, [Sent(wires("openai").answer(f"{KEY} {SECRET}"))]) as fake:
        servers = {"x": {"command": "x", "env": {"A": "${ELSEWHERE}"}}}
        file.write_text(
            json.dumps(
                {"version": 1, "mcpServers": servers, "providers": {"mine": {**own, "base_url": fake.url}}}
            )
        )
        async with ProviderPool(load_config(file)) as pool:
            provider, model = await pool.get("mine/m")
            await provider.answer(replace(ASKED, model=model, system=f"The team is {SECRET}, {OTHER}."))
        assert fake.received[0].headers["x-team"] == SECRET
    (path,) = (tmp_path / "kept").iterdir()
    text = path.read_text("utf-8")
    assert KEY not in text and SECRET not in text and OTHER not in text
    assert not any(word in text.lower() for word in ("authorization", "x-team", "bearer"))
    assert replayed(read(path)).message.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.anyio
@pytest.mark.requirement("I11.5.2")
async def test_an_error_is_recorded_too(tmp_path: Path) -> None:
    refused = Sent({"error": {"message": "no such thing", "type": "invalid_request_error"}}, status=400)
    with FakeProvider(anything, [refused]) as fake:
        provider = Peer("openai", fake.url)
        provider.recorded(Recorder(tmp_path, str))
        with pytest.raises(ProviderError, match="no such thing"):
            await provider.answer(replace(ASKED, tools=()))
        await provider.aclose()
    (recording,) = recordings(tmp_path)
    assert recording.status == 400
    assert b"no such thing" in recording.reply


@pytest.mark.anyio
@pytest.mark.requirement("I11.5.2")
async def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with FakeProvider(anything, [Sent(wires("openai").answer("Hi."))]) as fake:
        provider = Peer("openai", fake.url)
        provider.recorded(Recorder(tmp_path / "file", str))
        with pytest.raises(StoreError, match="cannot be written"):
            await provider.answer(ASKED)
        await provider.aclose()


def asked_by_cli(model: str, url: str, folder: Path) -> str:
    """What ``toolspan ask`` prints with ``TOOLSPAN_RECORD`` set; the providers are at ``url``."""
    ran = toolspan(
        "ask",
        "Where is it cold?",
        "--model",
        model,
        cwd=folder,
        TOOLSPAN_RECORD=str(folder / "kept"),
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=f"{url}/v1",
        AZURE_OPENAI_API_KEY=KEY,
        AZURE_OPENAI_ENDPOINT=url,
    )
    assert ran.code == 0, ran.err
    return ran.out


@pytest.mark.requirement("I11.5.2")
@pytest.mark.parametrize(("model", "wire"), BOTH_WIRES)
def test_the_command_line_records_a_provider_of_one_wire_or_two(
    model: str, wire: str, tmp_path: Path
) -> None:
    with FakeProvider(anything, [Sent(wires("openai").answer("In Oslo."))]) as fake:
        assert "In Oslo." in asked_by_cli(model, fake.url, tmp_path)
        sent = fake.received[0].body
    (recording,) = recordings(tmp_path / "kept")
    assert (recording.provider, recording.format) == (model.split(":")[-1].split("/")[0], wire)
    assert recording.body == sent
    assert replayed(recording).message.text == "In Oslo."


@asynccontextmanager
async def recording_pool(
    fake: FakeProvider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[ProviderPool]:
    """Providers whose exchanges are kept in ``folder``; ``openai`` is ``fake``."""
    config = folder / "config.yaml"
    config.write_text("version: 1\n")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
    monkeypatch.setenv("TOOLSPAN_RECORD", str(folder / "kept"))
    async with ProviderPool(load_config(config)) as pool:
        yield pool


@pytest.mark.anyio
@pytest.mark.requirement("I11.5.2")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_the_wire_that_refuses_a_model_is_recorded_and_the_one_that_takes_it(
    stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, wire = "openai-responses", wires("openai-responses")
    refusal = {"message": "This model is only supported in v1/responses.", "type": "invalid_request_error"}
    taken = streamed(name, *wire.frames("In Oslo.")) if stream else Sent(wire.answer("In Oslo."))
    with FakeProvider(anything, [Sent({"error": refusal}, status=404), taken]) as fake:
        async with recording_pool(fake, tmp_path, monkeypatch) as pool:
            provider, model = await pool.get("openai/m")
            await last_reply(provider, replace(ASKED, model=model), stream=stream)
    first, second = recordings(tmp_path / "kept")
    assert (first.format, first.status, second.format, second.status) == ("openai", 404, name, 200)
    assert b"only supported in v1/responses" in first.reply
    assert replayed(second).message.text == "In Oslo."


@pytest.mark.anyio
@pytest.mark.requirement("I11.5.2")
async def test_models_of_one_provider_do_not_write_over_each_others_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ["one", "two", "three"]
    with FakeProvider(anything, [Sent(wires("openai").answer(name)) for name in models]) as fake:
        async with recording_pool(fake, tmp_path, monkeypatch) as pool:
            for name in models:
                provider, model = await pool.get(f"openai/{name}")
                await provider.answer(replace(ASKED, model=model))
    kept = [(each.asked.model, replayed(each).message.text) for each in recordings(tmp_path / "kept")]
    assert kept == [(name, name) for name in models]
