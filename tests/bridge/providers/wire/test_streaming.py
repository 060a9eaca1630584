"""Streamed answers over real connections: pieces, deadlines, retries, what breaks off, for every format."""

from __future__ import annotations

import gzip
import logging
from contextlib import aclosing

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.provider_settings import instant
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, KEY, Peer, comment, streamed, wires
from toolspan_bridge.errors import (
    AuthError,
    BridgeError,
    ProviderError,
    UnreachableError,
)
from toolspan_bridge.messages import Reply, Request, User
from toolspan_bridge.messages.deltas import CallDelta, Delta, TextDelta
from toolspan_bridge.providers import Provider
from toolspan_bridge.providers.http.settings import HttpSettings

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.2")]

TEXT = "Grüße, 世界! It is 22 °C in Oslo."
CALLS: list[tuple[str, str, dict[str, object]]] = [
    ("call_1", "shop__echo", {"city": "Oslo", "days": 3}),
    ("call_2", "shop__echo", {}),
]
each_format = pytest.mark.parametrize("wire", FORMATS)


async def ask(provider: Provider) -> tuple[list[Delta], Reply]:
    """The deltas and the reply of one streamed answer; the provider is closed."""
    deltas: list[Delta] = []
    with anyio.fail_after(BOUND_S):
        async with aclosing(provider), aclosing(provider.stream(Request("m", (User("?"),)))) as items:
            async for item in items:
                if isinstance(item, Reply):
                    return deltas, item
                deltas.append(item)
    raise AssertionError("no reply came")


async def ask_for(wire: str, *sent: Sent, settings: HttpSettings | None = None) -> tuple[list[Delta], Reply]:
    with FakeProvider(anything, sent) as fake:
        return await ask(Peer(wire, fake.url, settings))


def text_of(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


@each_format
async def test_a_streamed_answer_comes_in_pieces_and_equals_the_whole_one(wire: str) -> None:
    frames = wires(wire).frames(TEXT, CALLS)
    with FakeProvider(anything, [streamed(wire, *frames), Sent(wires(wire).answer(TEXT, CALLS))]) as fake:
        deltas, reply = await ask(Peer(wire, fake.url))
        async with aclosing(Peer(wire, fake.url)) as provider:
            whole = await provider.answer(Request("m", (User("?"),)))
    assert [request.target for request in fake.received] == ["/ask-in-pieces", "/ask"]
    assert text_of(deltas) == TEXT
    assert len([delta for delta in deltas if isinstance(delta, TextDelta)]) > 1
    assert {delta.index for delta in deltas if isinstance(delta, CallDelta)} == {0, 1}
    assert (reply.message.text, reply.message.calls, reply.usage.as_dict()) == (
        whole.message.text,
        whole.message.calls,
        whole.usage.as_dict(),
    )
    assert not reply.incomplete


@each_format
async def test_pieces_that_split_characters_and_frames_change_nothing(wire: str) -> None:
    body = b"".join(wires(wire).frames(TEXT))
    deltas, reply = await ask_for(wire, streamed(wire, *(body[n : n + 3] for n in range(0, len(body), 3))))
    assert (text_of(deltas), reply.message.text, reply.incomplete) == (TEXT, TEXT, False)


@each_format
async def test_a_cut_connection_keeps_what_came_and_carries_out_no_call(wire: str) -> None:
    frames = wires(wire).frames(TEXT, CALLS)
    deltas, reply = await ask_for(wire, streamed(wire, *frames[: len(frames) * 2 // 3], hang_up=True))
    assert reply.incomplete and reply.message.calls == ()
    assert text_of(deltas) == reply.message.text
    assert "broke" in reply.trouble


@each_format
async def test_a_stream_that_ends_early_without_an_error_is_incomplete_too(wire: str) -> None:
    frames = wires(wire).frames(TEXT)
    _, reply = await ask_for(wire, streamed(wire, *frames[: len(frames) // 2]))
    assert reply.incomplete and TEXT.startswith(reply.message.text)
    assert "ended before the answer did" in reply.trouble


@each_format
async def test_an_error_within_the_stream_is_retried_as_long_as_nothing_was_given_out(wire: str) -> None:
    waits: list[float] = []
    failing, sound = streamed(wire, wires(wire).FAILURE), streamed(wire, *wires(wire).frames(TEXT))
    _, reply = await ask_for(wire, failing, sound, settings=instant(waits))
    assert (reply.message.text, reply.attempts, waits) == (TEXT, 2, [0.5])


@each_format
async def test_an_error_within_the_stream_that_stays_is_told_in_the_provider_s_words(wire: str) -> None:
    with pytest.raises(ProviderError, match=r"acme said within its answer: .*Overloaded, try later"):
        await ask_for(wire, *[streamed(wire, wires(wire).FAILURE)] * 3)


@each_format
async def test_an_error_after_some_text_ends_the_answer_and_is_never_retried(wire: str) -> None:
    frames = wires(wire).frames(TEXT)
    sent = streamed(wire, *frames[: len(frames) // 2], wires(wire).FAILURE)
    with FakeProvider(anything, [sent]) as fake:
        deltas, reply = await ask(Peer(wire, fake.url))
        assert len(fake.received) == 1
    assert reply.incomplete and text_of(deltas) == reply.message.text != ""
    assert "Overloaded, try later" in reply.trouble


@each_format
async def test_a_silent_stream_ends_at_the_idle_limit_with_what_came(wire: str) -> None:
    frames = wires(wire).frames(TEXT)
    sent = streamed(wire, *frames[: len(frames) // 2], stall=True)
    deltas, reply = await ask_for(wire, sent, settings=instant(idle=0.1))
    assert reply.incomplete and text_of(deltas) == reply.message.text != ""
    assert "nothing more within 0.1 s" in reply.trouble


@pytest.mark.long
@each_format
async def test_a_stream_that_only_drips_ends_at_the_total_limit_with_what_came(wire: str) -> None:
    frames = wires(wire).frames(TEXT)
    sent = streamed(wire, *frames[: len(frames) // 2], drip=comment(wire))
    _, reply = await ask_for(wire, sent, settings=instant(idle=0.25, total=0.3))
    assert reply.incomplete and reply.message.text
    assert "no complete answer within 0.3 s" in reply.trouble


async def test_no_first_byte_in_time_is_unreachable() -> None:
    with pytest.raises(UnreachableError, match=r"no answer within 0\.1 s"):
        await ask_for("openai", streamed("openai", stall=True), settings=instant(read=0.1))


async def test_headers_that_never_come_run_into_the_total_limit() -> None:
    with pytest.raises(UnreachableError, match=r"no answer within 0\.2 s"):
        await ask_for("openai", Sent(stall=True), settings=instant(total=0.2))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 529])
async def test_passing_troubles_before_the_stream_are_retried_and_the_attempts_recorded(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    sound = streamed("openai", *wires("openai").frames(TEXT))
    busy = Sent(status=status, headers={"Retry-After-Ms": "1500"})
    with caplog.at_level(logging.DEBUG, "toolspan.providers"):
        _, reply = await ask_for("openai", busy, Sent(hang_up=True), sound, settings=instant(waits))
    assert (reply.attempts, waits) == (3, [1.5, 1.0])
    assert f"acme: answered {status}; attempt 2 in 1.5 s" in caplog.text
    assert KEY not in caplog.text


async def test_a_connection_that_is_lost_after_the_first_byte_is_not_retried() -> None:
    with FakeProvider(anything, [streamed("openai", b": hello\n\n", hang_up=True)]) as fake:
        with pytest.raises(UnreachableError, match="the connection broke"):
            await ask(Peer("openai", fake.url))
        assert len(fake.received) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_not_retried_and_never_shown(status: int) -> None:
    body = {"error": {"message": f"bad key {KEY}"}}
    with pytest.raises(AuthError, match=r"bad key \[key\].*check ACME_KEY"):
        await ask_for("openai", Sent(body, status=status))


@each_format
async def test_a_whole_answer_instead_of_a_stream_is_taken_as_such(wire: str) -> None:
    deltas, reply = await ask_for(wire, Sent(wires(wire).answer(TEXT)))
    assert (deltas, reply.message.text, reply.incomplete) == ([], TEXT, False)


@each_format
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (
            Sent(b"<html>Bad gateway</html>", headers={"content-type": "text/html; charset=utf-8"}),
            "Bad gateway",
        ),
        (Sent({"unexpected": True}), "unexpected"),
        (Sent(b"", headers={"content-type": "text/plain"}), "answer is empty"),
    ],
    ids=["page", "json", "empty"],
)
async def test_what_is_no_answer_at_all_is_an_error_with_a_snippet(wire: str, sent: Sent, said: str) -> None:
    with pytest.raises(BridgeError, match=f"(?s)did not answer as its API does: .*{said}") as caught:
        await ask_for(wire, sent)
    assert caught.value.exit_code == 1


async def test_a_stream_is_capped_after_decompression() -> None:
    bomb = gzip.compress(b": " + b"x" * 500_000 + b"\n\n")
    assert len(bomb) < 1000
    with pytest.raises(ProviderError, match="more than 100,000 bytes"):
        await ask_for("openai", Sent(frames=[bomb], headers={"content-encoding": "gzip"}))


async def test_one_connection_serves_many_streams() -> None:
    frames = wires("openai").frames(TEXT)
    with FakeProvider(anything, [streamed("openai", *frames)] * 3) as fake:
        async with aclosing(Peer("openai", fake.url)) as provider:
            for _ in range(3):
                async with aclosing(provider.stream(Request("m", (User("?"),)))) as items:
                    assert [item async for item in items][-1]
        assert fake.connections == 1


async def test_a_consumer_that_leaves_closes_the_connection_and_the_provider_goes_on() -> None:
    frames = wires("openai").frames(TEXT)
    replies = [streamed("openai", *frames[:3], stall=True), streamed("openai", *frames)]
    with FakeProvider(anything, replies) as fake:
        async with aclosing(Peer("openai", fake.url)) as provider:
            async with aclosing(provider.stream(Request("m", (User("?"),)))) as items:
                assert isinstance(await anext(items), TextDelta)
            async with aclosing(provider.stream(Request("m", (User("?"),)))) as items:
                last = [item async for item in items][-1]
    assert isinstance(last, Reply) and last.message.text == TEXT
