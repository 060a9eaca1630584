"""Refusals of every API, in the shape that its clients expect, and as the exceptions that they raise."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from typing_extensions import override

from tests.support.fake_providers import Sent
from tests.support.gateway import gateway
from tests.support.keyed_gateway import MODEL, keyed_gateway, new_key
from tests.support.web_app import WebApp
from toolspan_bridge import Provider
from toolspan_bridge.messages import Reply, Request
from toolspan_bridge.messages.deltas import Delta

ASKED: list[Any] = [{"role": "user", "content": "Hello"}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"model": MODEL, "messages": ASKED},
    "/v1/responses": {"model": MODEL, "input": "Hello"},
    "/v1/messages": {"model": MODEL, "max_tokens": 9, "messages": ASKED},
    "/v1/messages/count_tokens": {"model": MODEL, "messages": ASKED},
}
ONCE = {"fast": {"deployments": [{"model": MODEL}], "retries": 0, "failures": 9}}
"""A model whose failures are told at once."""
BROKEN = Sent({"error": {"message": "oops", "type": "server_error"}}, 500)


def checked(path: str, body: Any, *, of_anthropic: bool | None = None) -> None:
    """See that ``body`` is an error as the API at ``path`` has it."""
    if of_anthropic or (of_anthropic is None and path.startswith("/v1/messages")):
        assert (body["type"], {*body["error"]}) == ("error", {"type", "message"})
    else:
        assert {*body} == {"error"}
        assert {*body["error"]} == {"message", "type", "param", "code"}
    assert body["error"]["message"]


def refused(app: WebApp, key: str) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """``(status, method, path, what is sent)`` of requests that are refused."""
    bearer = f"Bearer {key}"
    for path, body in BODIES.items():
        yield 401, "POST", path, {"body": body, "Authorization": f"{bearer}x"}
        yield 403, "POST", path, {"body": body, "Origin": "http://evil.example"}
        yield 403, "POST", path, {"body": {**body, "model": "offline/keyword"}, "Authorization": bearer}
        yield 404, "POST", path, {"body": {**body, "model": "unheard"}}
        yield 404, "POST", f"{path}/a/nothing", {"body": body}
        yield 405, "PUT", path, {"body": body, "Content_Type": "application/json"}
        yield 405, "GET", path, {}
        yield 413, "POST", path, {"body": {**body, "padding": "x" * 5_000_000}}
        yield 415, "POST", path, {"body": body, "Content_Type": "text/plain"}
        yield 400, "POST", path, {"raw": b"{"}
        yield 400, "POST", path, {"raw": b"[]"}
        yield 421, "POST", path, {"body": body, "Host": "evil.example"}
    for path in ("/v1/models", "/v1/models/unheard"):
        yield 401, "GET", path, {"Authorization": f"{bearer}x"}
        yield 405, "POST", path, {"body": {}}
    yield 404, "GET", "/v1/models/unheard", {}
    yield 404, "GET", "/v1/nothing", {}
    yield 404, "GET", "/v1", {}


@pytest.mark.long
@pytest.mark.requirement("I15.3.114")
def test_every_refusal_of_every_api_has_the_shape_of_that_api(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path) as app:
        key = new_key(tmp_path, "team", models=("openai-chat/*",))
        for status, method, path, sent in refused(app, key):
            reply = app.ask(method, path, **sent)
            assert (reply.status, method, path) == (status, method, path), reply.body
            assert reply.headers["content-type"].startswith("application/json")
            checked(path, reply.json)
            if status == 405:
                assert reply.headers["allow"]
        for status, key_of_it in ((401, f"{key}x"), (404, key)):
            bearer = f"Bearer {key_of_it}"
            reply = app.ask("GET", "/v1/models/unheard", Authorization=bearer, anthropic_version="2023-06-01")
            assert reply.status == status
            checked("/v1/models", reply.json, of_anthropic=True)


@pytest.mark.long
@pytest.mark.requirement("I15.3.114")
def test_refusals_are_the_exceptions_of_openais_client(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [BROKEN] * 2, models=ONCE) as app:
        key = new_key(tmp_path, "team", models=("openai-chat/*", "models/*"))
        with openai.OpenAI(base_url=f"{app.url}/v1", api_key=key, max_retries=0) as client:

            def chat(model: str = MODEL, **more: Any) -> Any:
                completions: Any = client.chat.completions
                return completions.create(model=model, messages=more.pop("messages", ASKED), **more)

            def response(model: str = MODEL, **more: Any) -> Any:
                responses: Any = client.responses
                return responses.create(model=model, input=more.pop("messages", ASKED), **more)

            foreign, plain = {"Origin": "http://evil.example"}, {"Content-Type": "text/plain"}
            large: list[Any] = [{"role": "user", "content": "x" * 5_000_000}]
            for ask in (chat, response):
                _raises(openai.PermissionDeniedError, 403, ask, extra_headers=foreign)
                _raises(openai.PermissionDeniedError, 403, ask, "offline/keyword")
                _raises(openai.APIStatusError, 415, ask, extra_headers=plain)
                _raises(openai.APIStatusError, 413, ask, messages=large)
                _raises(openai.InternalServerError, 502, ask, "models/fast")
                _raises(openai.BadRequestError, 400, ask, temperature="hot")
            _raises(openai.NotFoundError, 404, client.models.retrieve, "unheard")
            _raises(openai.AuthenticationError, 401, client.with_options(api_key=f"{key}x").models.list)


@pytest.mark.long
@pytest.mark.requirement("I15.3.114")
def test_refusals_are_the_exceptions_of_anthropics_client(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [BROKEN], models=ONCE) as app:
        key = new_key(tmp_path, "team", models=("openai-chat/*", "models/*"))
        with anthropic.Anthropic(base_url=app.url, api_key=key, max_retries=0) as client:

            def message(model: str = MODEL, **more: Any) -> Any:
                messages: Any = client.messages
                return messages.create(
                    model=model, max_tokens=9, messages=more.pop("messages", ASKED), **more
                )

            foreign, plain = {"Origin": "http://evil.example"}, {"Content-Type": "text/plain"}
            large: list[Any] = [{"role": "user", "content": "x" * 5_000_000}]
            _raises(anthropic.PermissionDeniedError, 403, message, extra_headers=foreign)
            _raises(anthropic.PermissionDeniedError, 403, message, "offline/keyword")
            _raises(anthropic.APIStatusError, 415, message, extra_headers=plain)
            _raises(anthropic.RequestTooLargeError, 413, message, messages=large)
            _raises(anthropic.InternalServerError, 502, message, "models/fast")
            _raises(anthropic.BadRequestError, 400, message, extra_body={"temperature": "hot"})
            _raises(anthropic.NotFoundError, 404, client.models.retrieve, "unheard")
            _raises(anthropic.AuthenticationError, 401, client.with_options(api_key=f"{key}x").models.list)


def _raises(
    kind: type[openai.APIStatusError | anthropic.APIStatusError],
    status: int,
    ask: Callable[..., Any],
    *values: Any,
    **more: Any,
) -> None:
    with pytest.raises(kind) as caught:
        ask(*values, **more)
    assert caught.value.status_code == status
    checked("", caught.value.response.json(), of_anthropic=isinstance(caught.value, anthropic.APIStatusError))


class Faulty(Provider):
    """A provider with a defect."""

    name = "faulty"

    @override
    async def answer(self, request: Request) -> Reply:
        raise RuntimeError("the secret of the defect")

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        raise RuntimeError("the secret of the defect")
        yield

    @override
    async def aclose(self) -> None: ...


@pytest.mark.requirement("I15.3.114")
@pytest.mark.parametrize("stream", [False, True])
def test_a_defect_is_500_in_the_clients_shape_without_its_words_and_the_log_has_it_whole(
    stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with gateway(Faulty()) as served:
        with openai.OpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=0) as client:
            completions: Any = client.chat.completions
            with pytest.raises(openai.InternalServerError, match="RuntimeError") as caught:
                completions.create(model="m/x", messages=ASKED, stream=stream)
        with anthropic.Anthropic(base_url=served.url, api_key="k", max_retries=0) as other:
            messages: Any = other.messages
            with pytest.raises(anthropic.InternalServerError, match="RuntimeError"):
                messages.create(model="m/x", max_tokens=9, messages=ASKED, stream=stream)
    assert caught.value.status_code == 500
    assert "secret" not in str(caught.value)
    assert "the secret of the defect" in caplog.text


@pytest.mark.long
@pytest.mark.requirement("I24.5.3")
def test_no_error_of_a_provider_shows_its_key_or_the_beginning_of_it(tmp_path: Path) -> None:
    key, filler = "sk-of-the-provider", "a" * 188
    named = {name: f"{key}-{name}" for name in ("message", "code", "type", "param")}
    raw = {"message": "no", "metadata": {"raw": "b" * 589 + key, "provider_name": key}}
    replies = [
        Sent({"error": named}, 400),
        Sent({"error": raw}, 400),
        Sent((filler + key).encode(), 400),
        Sent((filler + key).encode()),
        Sent({"choices": filler + key}),
    ]
    for reply in replies:
        with keyed_gateway(tmp_path, [reply]) as app:
            answer = app.ask("POST", "/v1/chat/completions", body=BODIES["/v1/chat/completions"])
            assert answer.status >= 400
            assert "sk-of-th" not in str(answer.body), answer.body
