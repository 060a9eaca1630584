"""Batches at each provider: submitted, saved, gone on with elsewhere, and collected by the requests' ids."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.fake_providers.batches import (
    KEY,
    Answer,
    AnthropicBatches,
    Batches,
    Failed,
    GeminiBatches,
    OpenAIBatches,
    Said,
)
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge import (
    AuthError,
    Batch,
    BridgeError,
    ProviderError,
    Reply,
    Request,
    Scripted,
    StoreError,
    UnreachableError,
    UsageError,
    User,
    cancel_batch,
    collect_batch,
    poll_batch,
    resolve_model,
    submit_batch,
)
from toolspan_bridge.batch.services import service_of
from toolspan_bridge.batch.services.contract import Limits

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.6")]


@dataclass(frozen=True)
class Place:
    """A provider with a batch service, and its words."""

    name: str
    fake: type[Batches]
    base: str
    path: str
    running: str
    ended: str
    expired: str
    created: str
    refusal: Failed


REFUSED = Failed(400, "invalid_request_error", "That is too long")
PLACES = [
    Place(
        "openai", OpenAIBatches, "OPENAI", "/v1", "in_progress", "completed", "expired", "/batches$", REFUSED
    ),
    Place(
        "openai-responses",
        OpenAIBatches,
        "OPENAI",
        "/v1",
        "validating",
        "completed",
        "expired",
        "/batches$",
        Failed(0, "server_error", "That is too long"),
    ),
    Place(
        "openai-chat",
        OpenAIBatches,
        "OPENAI",
        "/v1",
        "in_progress",
        "completed",
        "expired",
        "/batches$",
        REFUSED,
    ),
    Place(
        "anthropic",
        AnthropicBatches,
        "ANTHROPIC",
        "",
        "in_progress",
        "ended",
        "expired",
        "/batches$",
        REFUSED,
    ),
    Place(
        "gemini",
        GeminiBatches,
        "GOOGLE_GEMINI",
        "",
        "RUNNING",
        "SUCCEEDED",
        "EXPIRED",
        "batchGenerateContent$",
        Failed(3, "", "That is too long"),
    ),
]
CALL = ("c1", "config__get_weather", {"location": "Paris"})
IDS = ("Monday, 1 / ü", "", "tuesday" * 50)


@pytest.fixture(params=PLACES, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    found: Place = request.param
    return found


class Served:
    """A place's fake, found by the environment, and providers that speak to it."""

    def __init__(
        self, place: Place, answers: Sequence[Answer], states: Sequence[str], patch: pytest.MonkeyPatch
    ) -> None:
        self.place, self.fake = place, place.fake(answers, states)
        patch.setenv(f"{place.base}_BASE_URL", self.fake.url + place.path)

    async def submit(self, requests: dict[str, Request] | None = None) -> Batch:
        provider, name = resolve_model(f"{self.place.name}/m", instant())
        async with aclosing(provider):
            return await submit_batch(provider, requests or asked(name))

    async def finished(self, batch: Batch) -> bool:
        provider, _ = resolve_model(f"{self.place.name}/m", instant())
        async with aclosing(provider):
            return (await poll_batch(provider, batch)).finished

    async def cancel(self, batch: Batch) -> str:
        provider, _ = resolve_model(f"{self.place.name}/m", instant())
        async with aclosing(provider):
            return (await cancel_batch(provider, batch)).state

    async def collect(self, batch: Batch) -> dict[str, Reply | BridgeError]:
        provider, _ = resolve_model(f"{self.place.name}/m", instant())
        async with aclosing(provider):
            return await collect_batch(provider, batch)


def asked(model: str) -> dict[str, Request]:
    return {name: Request(model, (User(f"{name}?"),), tools=SEED_TOOLS) for name in IDS}


@pytest.mark.long
async def test_a_batch_is_submitted_gone_on_with_elsewhere_and_collected_by_id(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = [Said("I look.", (CALL,)), place.refusal, Said("22 °C")]
    served = Served(place, answers, [place.running, place.running, place.ended], monkeypatch)
    with served.fake:
        (await served.submit()).save(tmp_path / "batch.json")
        batch = Batch.load(tmp_path / "batch.json")
        assert not await served.finished(batch)
        with pytest.raises(UsageError, match="still runs"):
            await served.collect(batch)
        assert await served.finished(batch)
        found = await served.collect(batch)
        assert found.keys() == set(IDS)
    first, refused, last = (found[name] for name in IDS)
    assert isinstance(first, Reply) and isinstance(last, Reply)
    assert first.message.calls[0].arguments == {"location": "Paris"} and last.message.text == "22 °C"
    assert isinstance(refused, ProviderError) and "That is too long" in refused.message
    assert last.usage.output_tokens == 7


async def test_the_handle_holds_no_secret_and_no_address(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(place, [None] * 3, [place.running], monkeypatch)
    with served.fake:
        batch = await served.submit()
    assert (batch.provider, batch.format, batch.model) == (place.name, place.name.removesuffix("-chat"), "m")
    kept = batch.to_json().decode()
    assert KEY not in kept and "127.0.0.1" not in kept
    assert Batch.from_json(batch.to_json()) == batch


async def test_a_lost_answer_never_creates_a_second_batch(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(place, [None] * 3, [place.running], monkeypatch)
    served.fake.losing, served.fake.lost = place.created, 1
    with served.fake:
        with pytest.raises(UnreachableError, match="may have been created all the same"):
            await served.submit()
        created = [each for each in served.fake.received if each.method == "POST"]
    assert len(created) == (2 if place.fake is OpenAIBatches else 1)


async def test_a_busy_service_is_asked_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(place, [None] * 3, [place.running], monkeypatch)
    served.fake.busy = 1
    with served.fake:
        assert (await served.submit()).id


async def test_collecting_that_was_interrupted_is_done_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(place, [Said("1"), Said("2"), Said("3")], [place.ended], monkeypatch)
    with served.fake:
        batch = await served.submit()
        served.fake.losing, served.fake.lost = "content$|results$|batches/b1$", 3
        with pytest.raises(UnreachableError):
            await served.collect(batch)
        found = await served.collect(batch)
    texts = [answer.message.text for answer in found.values() if isinstance(answer, Reply)]
    assert texts == ["1", "2", "3"]


async def test_what_an_expired_batch_did_not_reach_is_an_error_of_its_request(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(place, [Said("1"), None, None], [place.expired], monkeypatch)
    with served.fake:
        batch = await served.submit()
        found = await served.collect(batch)
    assert all("expired" in str(found[name]) for name in IDS[1:])
    assert isinstance(found[IDS[0]], Reply) or place.name == "gemini"


async def test_limits_and_what_is_no_batch_are_refused_before_anything_is_sent(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(place, [], [place.running], monkeypatch)
    with served.fake:
        with pytest.raises(UsageError, match="a batch needs a request"):
            provider, _ = resolve_model(f"{place.name}/m", instant())
            async with aclosing(provider):
                await submit_batch(provider, {})
        two = {"a": Request("m", (User("hi"),)), "b": Request("n", (User("hi"),))}
        with pytest.raises(UsageError, match="for one model"):
            await served.submit(two)
        service = service_of(place.name.partition("-")[0])
        monkeypatch.setattr(service, "LIMITS", Limits(1, 10_000))
        with pytest.raises(UsageError, match="takes 1 requests a batch, not 2"):
            await served.submit({"a": two["a"], "b": two["a"]})
        with pytest.raises(UsageError, match="takes 10,000 bytes a batch"):
            await served.submit({"a": Request("m", (User("x" * 10_000),))})
        assert served.fake.received == []


async def test_a_key_that_is_refused_is_told_without_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(
        place, [Failed(401, "authentication_error", f"bad key {KEY}")] * 3, [place.ended], monkeypatch
    )
    with served.fake:
        found = await served.collect(await served.submit())
    assert all(isinstance(error, AuthError) and KEY not in error.message for error in found.values())


@pytest.mark.requirement("I11.3.30")
async def test_a_cancelled_batch_gives_what_it_had_answered_and_an_error_for_the_rest(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served = Served(place, [Said("1"), None, None], [place.running], monkeypatch)
    with served.fake:
        (await served.submit()).save(tmp_path / "batch.json")
        batch = Batch.load(tmp_path / "batch.json")
        assert await served.cancel(batch) == "running"
        while not await served.finished(batch):
            pass
        found = await served.collect(batch)
        assert await served.cancel(batch) == "cancelled"
    assert all("cancelled" in str(found[name]) for name in IDS[1:])
    assert isinstance(found[IDS[0]], Reply) or place.name == "gemini"
    assert len([each for each in served.fake.received if each.target.endswith("cancel")]) == 1
    assert served.fake.refused == []


@pytest.mark.requirement("I11.3.30")
async def test_a_batch_that_ended_before_it_was_cancelled_stays_as_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(place, [Said("1"), Said("2"), Said("3")], [place.running, place.ended], monkeypatch)
    with served.fake:
        batch = await served.submit()
        assert await served.cancel(batch) == "ended"
        assert isinstance((await served.collect(batch))[IDS[0]], Reply)
    assert served.fake.too_late == 1


async def test_a_batch_that_failed_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    served = Served(PLACES[0], [None] * 3, ["failed"], monkeypatch)
    with served.fake:
        batch = await served.submit()
        with pytest.raises(ProviderError, match="failed: Line 1 is no JSON"):
            await served.collect(batch)


async def test_geminis_answers_without_metadata_are_told_apart_by_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    served = Served(PLACES[4], [Said("1"), Said("2"), Said("3")], ["SUCCEEDED"], monkeypatch)
    assert isinstance(served.fake, GeminiBatches)
    served.fake.named = False
    with served.fake:
        found = await served.collect(await served.submit())
    texts = [answer.message.text for answer in found.values() if isinstance(answer, Reply)]
    assert texts == ["1", "2", "3"]


async def test_a_provider_without_a_batch_service_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no batch service"):
        await submit_batch(Scripted([{"text": "hi"}]), asked("m"))
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider, _ = resolve_model("openai/m", instant())
    async with aclosing(provider):
        with pytest.raises(UsageError, match="is at gemini, not at openai"):
            await poll_batch(provider, Batch("gemini", "batches/b1", "m", "gemini", ("a",)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"toolspan_batch": true}',
        b'{"toolspan_batch": 2}',
        b'{"toolspan_batch": 1, "id": 7}',
    ],
)
def test_a_file_that_is_no_batch_is_refused_with_its_name(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "batch.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"batch\.json cannot be read: "):
        Batch.load(path)
    with pytest.raises(UsageError, match="No such file"):
        Batch.load(tmp_path / "none.json")
    with pytest.raises(StoreError, match="cannot be saved"):
        Batch("openai", "b", "m", "openai", ()).save(tmp_path / "nowhere" / "batch.json")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="Not a regular file"):
        Batch.load(path)
    path.unlink()
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError, match="Larger than"):
        Batch.load(path)
    whole = {"toolspan_batch": 1, "provider": "p", "id": "b", "model": "m", "format": "f", "ids": [1]}
    with pytest.raises(UsageError, match="all texts"):
        Batch.from_json(json.dumps(whole).encode())
