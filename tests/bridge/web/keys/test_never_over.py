"""A model of many requests with one key: whatever happens, never a cent more than its budget is paid."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from typing_extensions import override

from tests.support.obedient import MODELS, Bill, Clock, Obedient, question
from toolspan_bridge.errors import BridgeError
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.loop.limits.account import Held
from toolspan_bridge.loop.limits.charged import ChargedProvider
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Part,
    Reply,
    Request,
    ToolCall,
    ToolSpec,
    Usage,
    User,
)
from toolspan_bridge.providers.prices import Pricing
from toolspan_bridge.providers.spending_bounds import (
    USUAL_OUTPUT_TOKENS,
    Unbounded,
    body_input,
    most_input,
    most_usd,
)
from toolspan_bridge.providers.wire.token_limits import told_limit
from toolspan_bridge.web.keys import KeyLimits, KeyRefusal, KeyStore, VirtualKey, VirtualKeys
from toolspan_bridge.web.keys.refusals import UnknownPriceError
from toolspan_bridge.web.keys.spending import LEASE_SECONDS

pytestmark = pytest.mark.requirement("I24.6.1")

SCHEDULES = 1_000
DAY = 86_400.0


def limits(dice: Random) -> KeyLimits:
    usd = dice.choice((0.0005, 0.01, 0.05, 0.3, 1.0))
    kind = dice.randrange(3)
    if kind == 0:
        return KeyLimits(usd_in_all=usd)
    if kind == 1:
        return KeyLimits(usd_per_day=usd, usd_in_all=3 * usd)
    return KeyLimits(usd_per_month=usd, tokens_per_minute=dice.choice((None, 3_000, 100_000)))


async def asked(keys: VirtualKeys, key: VirtualKey, dice: Random, bill: Bill) -> None:
    """One request of up to three turns, which its client may give up at any moment."""
    pricing = dice.choice(MODELS)
    with anyio.CancelScope() as patience, suppress(BridgeError):
        async with keys.admitted(key) as admission:
            obedient = Obedient(dice, bill, pricing, patience.cancel)
            provider = ChargedProvider(obedient, admission, lambda _: pricing)
            for _ in range(dice.randint(1, 3)):
                if dice.random() < 0.5:
                    await provider.answer(question(dice))
                    continue
                async with aclosing(provider.stream(replace(question(dice), stream=True))) as pieces:
                    async for _ in pieces:
                        if dice.random() < 0.1:
                            break


def periods(bill: Bill, limits: KeyLimits) -> Iterator[tuple[float, float]]:
    """``(paid, allowed)`` of each period that there is."""
    if limits.usd_in_all is not None:
        yield bill.total, limits.usd_in_all
    for allowed, period in ((limits.usd_per_month, "%Y-%m"), (limits.usd_per_day, "%Y-%m-%d")):
        if allowed is None:
            continue
        paid = defaultdict[str, float](float)
        for at, usd in bill.amounts:
            paid[datetime.fromtimestamp(at, UTC).strftime(period)] += usd
        for usd in paid.values():
            yield usd, allowed


@pytest.mark.long
@pytest.mark.anyio
async def test_of_a_thousand_schedules_none_pays_a_cent_over_the_budget(tmp_path: Path) -> None:
    paid = 0
    seed = int(os.environ.get("TOOLSPAN_SEED", "24"))
    clock = Clock()
    with closing(KeyStore(tmp_path, clock)) as store, ExitStack() as stack:
        replicas = [stack.enter_context(closing(VirtualKeys(tmp_path, clock))) for _ in range(3)]
        for number in range(SCHEDULES):
            dice = Random(f"{seed}/{number}")
            bill = Bill(clock)
            key, _ = store.create(f"k{number}", limits(dice))
            for _ in range(dice.randint(1, 2)):
                async with anyio.create_task_group() as tasks:
                    for _ in range(dice.randint(1, 6)):
                        tasks.start_soon(asked, dice.choice(replicas), key, dice, bill)
                for spent, allowed in periods(bill, key.limits):
                    assert spent <= allowed + 1e-9, (seed, number, key.limits, spent)
                clock.now += dice.choice((0.0, 61.0, LEASE_SECONDS + 1, DAY))
            books = store.ledger.spent(key)
            assert books.usd_in_all + books.usd_held >= bill.total - 1e-7, (seed, number)
            paid += bill.total > 0
    assert paid > SCHEDULES / 4  # many of them could be afforded


@pytest.mark.anyio
async def test_what_a_killed_gateway_held_is_not_spent_again_after_its_restart(tmp_path: Path) -> None:
    clock, pricing = Clock(), MODELS[0]
    bill = Bill(clock)

    class Endless(Obedient):
        @override
        async def _ended(self, request: Request) -> Reply:
            self._bill.add(self._pricing.cost(await self._attempt(request)))
            self._give_up()
            await anyio.sleep_forever()
            raise AssertionError

    with closing(KeyStore(tmp_path, clock)) as store:
        key, _ = store.create("team", KeyLimits(usd_in_all=0.02))
        killed = store.ledger.admit(key)  # its gateway is killed while the provider writes
        most = most_usd([pricing], 100, USUAL_OUTPUT_TOKENS)
        assert most is not None
        store.ledger.hold(key, killed, Held(0, most))
        bill.add(most)
        for wait in (0.0, LEASE_SECONDS + 1):
            clock.now += wait
            with closing(VirtualKeys(tmp_path, clock)) as keys:
                for _ in range(5):
                    with anyio.CancelScope() as patience, suppress(KeyRefusal):
                        async with keys.admitted(key) as admission:
                            provider = Endless(Random(1), bill, pricing, patience.cancel)
                            await ChargedProvider(provider, admission, lambda _: pricing).answer(
                                Request("m", (User("hi"),))
                            )
        assert 0.01 < bill.total <= 0.02


@pytest.mark.parametrize("name", [*format_names(), "prompt"])
def test_every_format_tells_its_provider_the_limit_that_is_held(name: str) -> None:
    models = {
        "anthropic": "claude-sonnet-4-5",
        "bedrock": "amazon.nova-2-lite-v1:0",
        "gemini": "gemini-2.5-pro",
    }
    for reasoning in (None, "low", "high"):
        request = Request(models.get(name, "m"), (User("hi"),), max_tokens=4_000, reasoning=reasoning)
        body = get_format(name).render_request(request, NameTable.of(()))
        if (name, reasoning) == ("bedrock", "high"):
            assert told_limit(body) is None  # Nova takes none with that effort: refused under a budget
        else:
            assert told_limit(body) == 4_000


@pytest.mark.anyio
async def test_a_request_is_refused_whose_cost_has_no_bound(tmp_path: Path) -> None:
    sound = Part("audio", {"type": "audio", "data": "QUJD", "mimeType": "audio/mpeg"})
    for request, why in (
        (Request("m", (User("hi"),), builtins=("web_search",)), "provider's own tools cost"),
        (Request("m", (User("hi", (sound,)),)), "what audio costs"),
    ):
        with closing(KeyStore(tmp_path)) as store, closing(VirtualKeys(tmp_path)) as keys:
            key, _ = store.create(why, KeyLimits(usd_in_all=5.0))
            async with keys.admitted(key) as admission:
                bill = Bill(Clock())
                provider = ChargedProvider(
                    Obedient(Random(1), bill, MODELS[0], anyio.CancelScope().cancel),
                    admission,
                    lambda _: MODELS[0],
                )
                with pytest.raises(UnknownPriceError, match=f"{why}.*budget of the key"):
                    await provider.answer(request)
            assert bill.total == 0


@pytest.mark.parametrize(
    "text", ["a", "\x00" * 500, "日本語" * 200, "🦀" * 100, "\ud800", " " * 700, "\t\r\n" * 90]
)
def test_no_text_has_more_tokens_than_are_held(text: str) -> None:
    tool = ToolSpec("s", text[:50], text, {"type": "object", "description": text})
    request = Request(
        "m", (User(text), Assistant(text, opaque={"signature": text})), system=text, tools=(tool,)
    )
    assert most_input(request, MODELS).tokens >= 6 * len(text.encode("utf-8", "surrogatepass"))


STORY = "once upon a time there was a key " * 3_000
PLAIN = "".join(STORY.split())


def image(data: str, mime: str = "image/png") -> Part:
    return Part("image", {"type": "image", "data": data, "mimeType": mime})


@pytest.mark.parametrize(
    ("message", "body"),
    [
        (User("hi", (image(PLAIN, f"image/{PLAIN}"),)), {"text": f"[image/{PLAIN} omitted]"}),
        (User(PLAIN, (image(PLAIN, "image/tiff"),)), {"text": PLAIN}),
        (User("hi", (image(PLAIN),)), {"text": PLAIN}),
        (User("hi", (image(PLAIN),)), {"content": ["hi", PLAIN]}),
        (User("hi", (image(PLAIN),)), {"arguments": json.dumps({"data": PLAIN})}),
        (
            Assistant("", (ToolCall("c", "t", {"data": PLAIN}, json.dumps({"data": PLAIN})),)),
            {"input": {"data": PLAIN}, "images": []},
        ),
    ],
    ids=["in its type", "as text too", "as text", "in a list", "in arguments", "in a call"],
)
def test_what_reaches_the_model_as_text_counts_as_text(message: Message, body: dict[str, Any]) -> None:
    request = Request("m", (message, User("and", (image(PLAIN, "image/tiff"),))))
    assert body_input(json.dumps(body).encode(), most_input(request, MODELS)) >= len(PLAIN)


@pytest.mark.parametrize(
    "body",
    [
        {"image_url": {"url": f"data:image/png;base64,{PLAIN}"}},
        {"source": {"type": "base64", "data": PLAIN}},
        {"images": [PLAIN]},
        {"source": {"bytes": PLAIN}},
    ],
)
def test_a_picture_that_is_sent_as_one_does_not_count_by_its_bytes(body: dict[str, Any]) -> None:
    bound = most_input(Request("m", (User("hi", (image(PLAIN),)),)), MODELS)
    assert body_input(json.dumps(body).encode(), bound) < len(PLAIN) + bound.media


def test_files_are_held_as_whatever_the_model_can_read_of_them() -> None:
    resource = {"uri": "attachment:a.pdf", "mimeType": "application/pdf", "blob": "QUJD"}
    request = Request("m", (User("hi", (Part("resource", {"type": "resource", "resource": resource}),)),))
    assert most_input(request, [Pricing("anthropic", "claude-sonnet-4-5")]).tokens > 200_000
    with pytest.raises(Unbounded, match="how much of a file"):
        most_input(request, [Pricing("nobody", "m")])


@pytest.mark.parametrize("kind", ["audio/wav", "video/mp4"])
def test_a_file_of_sound_or_film_has_no_bound(kind: str) -> None:
    resource = {"uri": "attachment:a", "mimeType": kind, "blob": "QUJD"}
    request = Request("m", (User("hi", (Part("resource", {"type": "resource", "resource": resource}),)),))
    with pytest.raises(Unbounded, match="sound and film"):
        most_input(request, [Pricing("gemini", "gemini-2.5-flash")])


@pytest.mark.anyio
@pytest.mark.parametrize(
    "usage",
    [Usage(10), Usage(0, 90), Usage(10, -5), Usage(-5, 90), Usage(10, 10**30), Usage(10**30, 90)],
    ids=str,
)
async def test_a_side_of_the_usage_that_is_not_counted_costs_what_was_held_for_it(
    tmp_path: Path, usage: Usage
) -> None:
    class Half(Obedient):
        @override
        async def _ended(self, request: Request) -> Reply:
            return Reply(Assistant("one"), "stop", usage=usage)

    pricing = Pricing("openai", "gpt-4o")  # $2.50 and $10 for a million tokens
    with closing(KeyStore(tmp_path)) as store, closing(VirtualKeys(tmp_path)) as keys:
        key, _ = store.create("team", KeyLimits(usd_in_all=1.0))
        async with keys.admitted(key) as admission:
            half = Half(Random(1), Bill(Clock()), pricing, anyio.CancelScope().cancel)
            provider = ChargedProvider(half, admission, lambda _: pricing)
            await provider.answer(Request("m", (User("x" * 4_000),), max_tokens=1_000))
        figures = store.ledger.spent(key)
    least = 10 * 2.5e-6 + 1_000 * 10e-6 if usage.input_tokens == 10 else 4_000 * 2.5e-6 + 90 * 10e-6
    assert least * 0.999 <= figures.usd_in_all < 0.05
    assert figures.usd_held == 0
