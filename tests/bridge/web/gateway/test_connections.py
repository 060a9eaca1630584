"""Clients that go away, wait, and come all at once."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from typing import Any

import anyio
import httpx2
import openai
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.gateway import gateway
from tests.support.local_tools import Performed, turn
from tests.support.waiting import BOUND_S, until
from toolspan_bridge.principals import LOCAL_USER
from toolspan_bridge.providers.catalog import anthropic
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.providers.http.settings import HttpSettings
from toolspan_bridge.providers.settings.endpoint import Endpoint
from toolspan_bridge.toolbox.local import LocalCall
from toolspan_bridge.web.gateway.faults import RequestFault
from toolspan_bridge.web.gateway.serving.exchange import Admission

pytestmark = pytest.mark.anyio

_BODY: dict[str, Any] = {"model": "m/x", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.requirement("I15.3.21")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_goes_away_cancels_the_run_and_the_call_in_it(stream: bool) -> None:
    begun, ended = list[str](), list[str]()

    async def wait(call: LocalCall) -> Any:
        begun.append(call.id)
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(call.id)

    turns = [turn(("slow", {}), pieces=["I wait."]), {"text": "never"}]
    admission = Admission()
    with gateway(turns, Performed("slow", wait), admission=admission) as served:
        async with httpx2.AsyncClient(timeout=BOUND_S) as client, anyio.create_task_group() as tasks:

            async def ask() -> None:
                await client.post(f"{served.url}/v1/chat/completions", json={**_BODY, "stream": stream})

            tasks.start_soon(ask)
            await until(lambda: begun)
            tasks.cancel_scope.cancel()
        await until(lambda: ended)
        await until(lambda: not admission.running)
    assert len(served.requests) == 1


@pytest.mark.requirement("I15.3.22")
async def test_more_requests_than_are_answered_at_once_are_told_to_come_again() -> None:
    begun, go_on = list[str](), list[str]()

    async def wait(call: LocalCall) -> Any:
        begun.append(call.id)
        await until(lambda: go_on)
        return "done"

    turns = [turn(("slow", {})), {"text": "first"}, {"text": "third"}]
    with gateway(turns, Performed("slow", wait), admission=Admission(most=1)) as served:
        async with (
            openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=0) as client,
            anyio.create_task_group() as tasks,
        ):
            answers: list[Any] = []

            async def ask() -> None:
                answers.append(await client.chat.completions.create(**_BODY))

            tasks.start_soon(ask)
            await until(lambda: begun)
            with pytest.raises(openai.RateLimitError) as caught:
                await client.chat.completions.create(**_BODY)
            assert caught.value.response.headers["retry-after"] == "1"
            go_on.append("now")
            await until(lambda: answers)
            await ask()
    assert [answer.choices[0].message.content for answer in answers] == ["first", "third"]


@pytest.mark.requirement("I15.3.22")
async def test_a_silent_stream_gets_pings_that_clients_pass_over() -> None:
    async def wait(call: LocalCall) -> Any:
        del call
        await until(lambda: b": keep-alive" in received)
        return "done"

    received = b""
    turns = [turn(("slow", {})), {"text": "At last."}]
    with gateway(turns, Performed("slow", wait), ping_seconds=0.05) as served:
        url = f"{served.url}/v1/chat/completions"
        async with (
            httpx2.AsyncClient(timeout=BOUND_S) as client,
            client.stream("POST", url, json={**_BODY, "stream": True}) as response,
        ):
            async for chunk in response.aiter_bytes():
                received += chunk
    data = [line[6:] for line in received.decode().splitlines() if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    assert (
        "".join(json.loads(each)["choices"][0]["delta"].get("content", "") for each in data[:-1])
        == "At last."
    )


@pytest.mark.long
@pytest.mark.requirement("I15.3.22")
async def test_many_streams_at_once_are_each_their_own() -> None:
    many = 200
    answers = [
        {
            "to": f"number {number:03d}.",
            "turns": [turn(("echo", {"n": number})), {"text": f"It is {number:03d}."}],
        }
        for number in range(many)
    ]
    with gateway(Scripted(answers=answers), Performed("echo")) as served:
        limits = httpx2.Limits(max_connections=None)
        async with (
            httpx2.AsyncClient(timeout=BOUND_S, limits=limits) as http,
            openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="k", http_client=http) as client,
        ):
            said = dict[int, str]()

            async def ask(number: int) -> None:
                messages: list[Any] = [{"role": "user", "content": f"Which is number {number:03d}.?"}]
                stream = await client.chat.completions.create(model="m/x", messages=messages, stream=True)
                pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
                said[number] = "".join(pieces)

            async with anyio.create_task_group() as tasks:
                for number in range(many):
                    tasks.start_soon(ask, number)
    assert said == {number: f"It is {number:03d}." for number in range(many)}


@pytest.mark.requirement("I15.3.22")
def test_a_body_that_never_ends_takes_no_place() -> None:
    admission = Admission(most=1)
    with gateway([{"text": "hello"}], admission=admission) as served:
        host, _, port = served.url.removeprefix("http://").partition(":")
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1000\r\n\r\n{{"
        with socket.create_connection((host, int(port)), timeout=BOUND_S) as waiting:
            waiting.sendall(head.encode())
            for _ in range(3):  # the server has read what was sent before
                httpx2.get(f"{served.url}/v1/models", timeout=BOUND_S)
            answer = httpx2.post(f"{served.url}/v1/chat/completions", json=_BODY, timeout=BOUND_S)
    assert answer.status_code == 200


@pytest.mark.requirement("I15.3.22")
@pytest.mark.parametrize("caller", ["key a", LOCAL_USER])
def test_one_caller_takes_half_of_the_places_at_most_and_the_rest_is_for_others(caller: str) -> None:
    admission = Admission(most=4)
    with ExitStack() as others, admission.entered(caller):
        with admission.entered(caller):
            with pytest.raises(RequestFault, match="2 requests of the same caller"):
                others.enter_context(admission.entered(caller))
            others.enter_context(admission.entered("key b"))
        others.enter_context(admission.entered(caller))
        others.enter_context(admission.entered("key b"))
        with pytest.raises(RequestFault, match="4 requests are answered"):
            others.enter_context(admission.entered("key c"))
    assert admission.running == 0


@pytest.mark.requirement("I15.3.22")
async def test_a_count_of_tokens_takes_a_place_and_ends_with_its_client() -> None:
    admission = Admission(most=1)
    with FakeProvider(anything, [Sent(stall=True), Sent({"input_tokens": 5})]) as fake:
        endpoint = Endpoint("acme", fake.url, "sk-x", "ACME_KEY", "check it")
        with gateway(anthropic.connect_to(endpoint, HttpSettings()), admission=admission) as served:
            url = f"{served.url}/v1/messages/count_tokens"
            async with httpx2.AsyncClient(timeout=BOUND_S) as client:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(lambda: client.post(url, json=_BODY))
                    await until(lambda: fake.received)
                    assert admission.running == 1
                    refused = await client.post(url, json=_BODY)
                    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
                    tasks.cancel_scope.cancel()
                await until(lambda: not admission.running)
                assert (await client.post(url, json=_BODY)).json() == {"input_tokens": 5}


@pytest.mark.requirement("I24.5.3")
@pytest.mark.parametrize(
    "stops",
    [["x"] * 65, ["y" * 1_001], [f"{number:06d}" for number in range(60_000)]],
    ids=["65", "long", "60000"],
)
def test_many_or_long_texts_that_end_an_answer_are_refused_by_every_api(stops: list[str]) -> None:
    fits = ["z" * 1_000] * 64
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "/v1/chat/completions": ("stop", _BODY),
        "/v1/messages": ("stop_sequences", {**_BODY, "max_tokens": 9}),
        "/v1/messages/count_tokens": ("stop_sequences", _BODY),
        "/v1/responses": ("include", {"model": "m/x", "input": "hi"}),
    }
    with gateway([{"text": "hello"} for _ in range(9)]) as served:
        for path, (name, body) in asked.items():
            answer = httpx2.post(f"{served.url}{path}", json={**body, name: stops}, timeout=BOUND_S)
            assert (answer.status_code, path) == (400, path), answer.text
            assert f"{name} must be at most 64 texts" in answer.json()["error"]["message"]
            if "count_tokens" not in path:
                kept = httpx2.post(f"{served.url}{path}", json={**body, name: fits}, timeout=BOUND_S)
                assert kept.status_code == 200, kept.text
