"""Gemini on Vertex AI."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import ANSWERED, ask, stream
from tests.support.wires.gemini import answer, frames
from toolspan_bridge.errors import AuthError, UsageError
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.catalog.vertex import _address

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.1")]

TOKEN = "ya29.test-token"
PLACE = "projects/p-1/locations/europe-west4"


@pytest.fixture
def vertex(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("VERTEX_ACCESS_TOKEN", TOKEN)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p-1")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
    return monkeypatch


@pytest.mark.parametrize("model", ["gemini-3-pro", "gemini-2.5-flash"])
async def test_it_asks_with_a_token_in_its_project_and_location(
    model: str, vertex: pytest.MonkeyPatch
) -> None:
    replies = [
        Sent(answer("", [(None, "config__get_weather", {"location": "Paris"})])),
        Sent(answer("22 °C")),
    ]
    with FakeProvider(checks.vertex(TOKEN, PLACE, model), replies) as fake:
        vertex.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
        first = await ask(f"vertex/{model}", builtins=("web_search",))
        second = await ask(f"vertex/google/{model}", messages=ANSWERED)
    assert first.message.calls[0].arguments == {"location": "Paris"}
    assert second.message.text == "22 °C"
    answered = fake.received[1].body["contents"]
    assert ("id" in answered[2]["parts"][0]["functionResponse"]) is (model == "gemini-3-pro")


@pytest.mark.requirement("I5.1.2")
async def test_it_streams(vertex: pytest.MonkeyPatch) -> None:
    check = checks.vertex(TOKEN, PLACE, "gemini-3-pro", method="streamGenerateContent?alt=sse")
    with FakeProvider(check, [Sent(frames=frames("22 °C"))]) as fake:
        vertex.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
        assert (await stream("vertex/gemini-3-pro"))[0] == "22 °C"


async def test_a_model_name_cannot_leave_its_place_in_the_address(vertex: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.vertex(TOKEN, PLACE, "..%2Ffiles%3Fx%23"), [Sent(answer("hi"))]) as fake:
        vertex.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
        await ask("vertex/../files?x#")


async def test_a_model_of_another_publisher_is_written_with_it(vertex: pytest.MonkeyPatch) -> None:
    with FakeProvider(anything, [Sent(answer("hi"))] * 2) as fake:
        vertex.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
        await ask("vertex/acme/gemini-like")
        await ask("vertex/publishers/acme/models/gemini-like")
    place = f"/v1beta1/{PLACE}/publishers/acme/models/gemini-like:generateContent"
    assert [request.target for request in fake.received] == [place] * 2


def test_without_a_token_or_project_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AuthError, match=r"VERTEX_ACCESS_TOKEN .*gcloud auth print-access-token"):
        resolve_model("vertex/gemini-3-pro")
    monkeypatch.setenv("VERTEX_ACCESS_TOKEN", TOKEN)
    with pytest.raises(UsageError, match="set GOOGLE_CLOUD_PROJECT"):
        resolve_model("vertex/gemini-3-pro")


def test_a_location_that_is_none_is_refused(vertex: pytest.MonkeyPatch) -> None:
    vertex.setenv("GOOGLE_CLOUD_LOCATION", "evil.test/x?")
    with pytest.raises(UsageError, match="GOOGLE_CLOUD_LOCATION is no location"):
        resolve_model("vertex/gemini-3-pro")


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("global", "https://aiplatform.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("us-central1", "https://us-central1-aiplatform.googleapis.com"),
    ],
)
def test_each_location_has_its_address(location: str, address: str) -> None:
    assert _address(location) == address


@pytest.mark.requirement("I11.3.22")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_its_search_leaves_out_domains_and_a_note_names_what_it_does_not_take(
    streamed: bool, vertex: pytest.MonkeyPatch
) -> None:
    settings = {
        "blocked_domains": ["a.org"],
        "start_time": "2026-01-01T00:00:00Z",
        "end_time": "2026-02-01T00:00:00Z",
        "latitude": 59.9,
        "longitude": 10.7,
    }
    options: dict[str, Any] = {"builtins": ("web_search",), "builtin_options": {"web_search": settings}}
    method = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    reply = Sent(frames=frames("So.")) if streamed else Sent(answer("So."))
    with FakeProvider(checks.vertex(TOKEN, PLACE, "gemini-3-pro", method=method), [reply]) as fake:
        vertex.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
        if streamed:
            _, found = await stream("vertex/gemini-3-pro", **options)
        else:
            found = await ask("vertex/gemini-3-pro", **options)
    body = fake.received[0].body
    assert body["tools"][-1] == {"googleSearch": {"excludeDomains": ["a.org"]}}
    assert body["toolConfig"]["retrievalConfig"] == {"latLng": {"latitude": 59.9, "longitude": 10.7}}
    assert found.notes == ("Google's web_search takes no end_time, start_time (Vertex AI): left out",)
