"""Virtual keys at a gateway that is a process of its own, with the clients of OpenAI and Anthropic."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.support.fake_providers import anything
from tests.support.keyed_gateway import (
    MODEL,
    TURN_USD,
    WEATHER,
    Provider,
    calling,
    keyed_gateway,
    new_key,
    pieces,
    recorded,
    said,
    spent,
)
from tests.support.waiting import BOUND_S, eventually
from tests.support.web_app import WebApp, web_app
from toolspan_bridge.web.keys import KeyStore

pytestmark = pytest.mark.long
ASKED: list[Any] = [{"role": "user", "content": "Hello"}]


@contextmanager
def clients(app: WebApp, key: str) -> Generator[tuple[openai.OpenAI, anthropic.Anthropic]]:
    """OpenAI's client, which sends a bearer token, and Anthropic's, which sends ``x-api-key``."""
    with (
        openai.OpenAI(base_url=f"{app.url}/v1", api_key=key, max_retries=0) as first,
        anthropic.Anthropic(base_url=app.url, api_key=key, max_retries=0) as second,
    ):
        yield first, second


def asked(client: openai.OpenAI, **more: Any) -> str:
    """The answer of the model that has a price."""
    wanted: dict[str, Any] = {"model": MODEL, "messages": ASKED, "max_tokens": 100, **more}
    completions: Any = client.chat.completions
    completion = completions.create(**wanted)
    return str(completion.choices[0].message.content)


@pytest.mark.requirement("I15.3.100")
def test_a_key_is_good_for_the_gateway_alone_by_either_header_and_a_wrong_one_for_nothing(
    tmp_path: Path,
) -> None:
    with keyed_gateway(tmp_path, [said(f"answer {number}") for number in range(6)]) as app:
        key = new_key(tmp_path, "team")
        with clients(app, key) as (first, second):
            assert asked(first) == "answer 0"
            for number in range(1, 6):
                found = second.messages.create(model=MODEL, max_tokens=9, messages=ASKED)
                assert found.content[0].to_dict()["text"] == f"answer {number}"
        narrow = new_key(tmp_path, "narrow", models=("openai-chat/*",))
        body = json.dumps({"model": "offline/keyword", "messages": ASKED})
        head = [f"Host: 127.0.0.1:{app.port}", f"x-api-key: {narrow}", "Content-Type: application/json"]
        lines = ["POST /v1/messages/count_tokens HTTP/1.1", *head, f"Content-Length: {len(body)}", "", body]
        with socket.create_connection(("127.0.0.1", app.port), BOUND_S) as connection:
            for _ in range(5):  # the server remembers a head that comes with its body
                connection.sendall("\r\n".join(lines).encode())
                counted = HTTPResponse(connection)
                counted.begin()
                assert "may not ask offline/keyword" in json.load(counted)["error"]["message"]
        assert app.ask("GET", "/api/health").status == 200
        refused = app.ask("GET", "/api/health", Authorization=f"Bearer {key}")
        assert (refused.status, refused.json["detail"]) == (
            403,
            "A virtual key is good for the gateway alone, at /v1",
        )
        assert app.ask("GET", "/healthz", Authorization=f"Bearer {key}").status == 200
        wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
        with clients(app, wrong) as (first, second):
            with pytest.raises(openai.AuthenticationError, match="not known here") as caught:
                asked(first)
            assert caught.value.code == "invalid_api_key"
            with pytest.raises(anthropic.AuthenticationError, match="not known here"):
                second.messages.create(model=MODEL, max_tokens=9, messages=ASKED)
            with pytest.raises(openai.AuthenticationError):
                first.models.list()


@pytest.mark.requirement("I15.3.101")
def test_a_key_asks_its_models_alone_and_sees_no_others(tmp_path: Path) -> None:
    models = {"fast": {"deployments": [{"model": MODEL}]}, "slow": {"deployments": [{"model": MODEL}]}}
    with keyed_gateway(tmp_path, [said("of my own")], models=models) as app:
        key = new_key(tmp_path, "team", models=("models/fast",))
        with clients(app, key) as (first, second):
            assert asked(first, model="models/fast") == "of my own"
            assert [model.id for model in first.models.list()] == ["models/fast"]
            assert [model.id for model in second.models.list()] == ["models/fast"]
            with pytest.raises(openai.PermissionDeniedError, match="may not ask models/slow") as caught:
                asked(first, model="models/slow")
            assert (caught.value.code, caught.value.type) == ("model_not_allowed", "permission_error")
            with pytest.raises(anthropic.PermissionDeniedError, match="may not ask offline/keyword"):
                second.messages.create(model="offline/keyword", max_tokens=9, messages=ASKED)
            with pytest.raises(openai.PermissionDeniedError):
                first.responses.create(model="anthropic/unheard", input="hi")  # though it needs a key
            with pytest.raises(openai.NotFoundError):
                first.models.retrieve("models/slow")


@pytest.mark.requirement("I15.3.101")
def test_a_key_with_toolsets_offers_their_tools_and_no_others(tmp_path: Path) -> None:
    tools = {"registry": [WEATHER, {**WEATHER, "name": "get_news", "description": "News of a city."}]}
    toolsets = {"news": {"tools": ["get_news"]}, "weather": {"tools": ["get_weather"]}}
    replies = [calling("get_weather", city="Rome"), said("I have no such tool."), said("Of news.")]
    with keyed_gateway(tmp_path, replies, tools=tools, toolsets=toolsets) as app:
        key = new_key(tmp_path, "team", toolsets=("news",))
        with clients(app, key) as (first, _):
            assert asked(first) == "I have no such tool."
            assert asked(first, extra_headers={"X-Toolspan-Toolset": "news"}) == "Of news."
            with pytest.raises(openai.PermissionDeniedError, match="may not use the toolset 'weather'"):
                asked(first, extra_headers={"X-Toolspan-Toolset": "weather"})
        failed = [each for each in recorded(app, 4) if each["kind"] == "tool"]
        assert [(each["tool"], each["status"]) for each in failed] == [("get_weather", "error")]


@pytest.mark.requirement("I15.3.102")
def test_a_key_spends_its_budget_and_is_told_when_there_is_another(tmp_path: Path) -> None:
    replies = [said("one"), calling("get_weather", city="Rome"), said("two"), pieces("three")]
    with keyed_gateway(tmp_path, replies) as app:
        key = new_key(tmp_path, "team", usd_per_day=0.006)
        with clients(app, key) as (first, second):
            assert asked(first) == "one"
            assert spent(tmp_path, "team").usd_in_all == pytest.approx(TURN_USD)
            assert asked(first) == "two"
            assert spent(tmp_path, "team").usd_in_all == pytest.approx(3 * TURN_USD)
            with second.messages.stream(model=MODEL, max_tokens=100, messages=ASKED) as stream:
                assert stream.get_final_text() == "three"
            figures = spent(tmp_path, "team")
            assert (figures.usd_in_all, figures.usd_held) == (pytest.approx(4 * TURN_USD), 0.0)
            assert (figures.tokens, figures.requests) == (4 * 18, 3)
            for stream_it in (False, True):
                with pytest.raises(openai.APIStatusError, match="may cost") as caught:
                    asked(first, max_tokens=1_000, stream=stream_it)
                assert (caught.value.status_code, caught.value.code) == (402, "budget_exceeded")
                assert 0 < int(caught.value.response.headers["retry-after"]) <= 86_400
            with pytest.raises(anthropic.APIStatusError) as refused:
                second.messages.create(model=MODEL, max_tokens=1_000, messages=ASKED)
            error: Any = refused.value.body
            assert (error["type"], error["error"]["type"]) == ("error", "billing_error")
            offline = first.chat.completions.create(model="offline/keyword", messages=ASKED)
            assert offline.choices[0].message.content  # what costs nothing needs no budget
        assert spent(tmp_path, "team").usd_in_all == pytest.approx(4 * TURN_USD)


@pytest.mark.requirement("I15.3.102")
def test_a_budget_takes_models_of_the_configs_own_at_the_dearest_and_none_without_a_price(
    tmp_path: Path,
) -> None:
    models = {
        "fast": {"deployments": [{"model": MODEL}, {"model": "offline/keyword"}]},
        "mine": {"deployments": [{"model": "mine/m"}]},
    }
    providers = {"mine": {"base_url": "http://127.0.0.1:9/v1"}}
    with keyed_gateway(tmp_path, [said("one")], models=models, providers=providers) as app:
        key = new_key(tmp_path, "team", usd_in_all=0.006)
        with clients(app, key) as (first, _):
            assert asked(first, model="models/fast") == "one"
            assert spent(tmp_path, "team").usd_in_all == pytest.approx(TURN_USD)
            with pytest.raises(openai.APIStatusError, match="may cost"):
                asked(first, model="models/fast", max_tokens=1_000)
            for unpriced in ("models/mine", "mine/m"):
                with pytest.raises(openai.PermissionDeniedError, match="no price of mine/m is known"):
                    asked(first, model=unpriced)


@pytest.mark.requirement("I15.3.102")
def test_the_rest_of_a_budget_is_a_limit_of_the_loop(tmp_path: Path) -> None:
    turns = [calling("get_weather", city=f"Rome {number}") for number in range(4)]
    replies = [*turns, said("That is all.")]
    usage = {"prompt_tokens": 2_000, "completion_tokens": 10, "total_tokens": 2_010}  # $0.0051
    replies = [replace(each, body={**each.body, "usage": usage}) for each in replies]
    with keyed_gateway(tmp_path, replies) as app:
        key = new_key(tmp_path, "team", usd_in_all=0.026)
        with clients(app, key) as (first, _):
            assert asked(first, max_tokens=10) == "That is all."
        assert spent(tmp_path, "team").usd_in_all == pytest.approx(0.0255)
        run = next(each for each in recorded(app, 4) if each["kind"] == "run")
        assert (run["tools"], run["usd"], run["status"]) == (4, pytest.approx(0.0255), "ok")


@pytest.mark.requirement("I24.6.1")
def test_a_request_without_a_limit_gets_the_one_that_is_held_and_less_where_less_is_left(
    tmp_path: Path,
) -> None:
    replies = [said("one"), pieces("two"), said("three"), said("four")]
    with Provider(anything, replies) as provider:
        known = {"OPENAI_BASE_URL": f"{provider.url}/v1", "OPENAI_API_KEY": "sk-of-the-provider"}
        config = json.dumps({"version": 1, "tools": {"registry": [WEATHER]}})
        with web_app(tmp_path, config=config, **known) as app:
            rich, poor = new_key(tmp_path, "rich", usd_in_all=1.0), new_key(tmp_path, "poor", usd_in_all=0.01)
            slow = new_key(tmp_path, "slow", tokens_per_minute=500)
            for key, stream in ((rich, False), (rich, True), (poor, False), (slow, False)):
                with clients(app, key) as (first, _):
                    completions: Any = first.chat.completions
                    found = completions.create(model=MODEL, messages=ASKED, stream=stream)
                    for _ in found if stream else ():
                        pass
        told = [each.body["max_completion_tokens"] for each in provider.received if each.method == "POST"]
    assert told[:2] == [4_096, 4_096]
    assert 500 < told[2] < 1_000  # what $0.01 pays of an answer at $10 a million, less what is sent
    assert 300 < told[3] < 500


@pytest.mark.requirement("I15.3.103")
def test_a_client_that_goes_away_pays_what_was_held_as_nothing_was_counted_yet(
    tmp_path: Path,
) -> None:
    begun = pieces("A long answer that is given up", stall=True)
    with keyed_gateway(tmp_path, [replace(begun, frames=(begun.frames or ())[:4])]) as app:
        key = new_key(tmp_path, "team", usd_in_all=1.0)
        with clients(app, key) as (first, _):
            stream = first.chat.completions.create(model=MODEL, messages=ASKED, max_tokens=100, stream=True)
            said_so_far = ""
            while "long" not in said_so_far:
                said_so_far += next(stream).choices[0].delta.content or ""
            held = spent(tmp_path, "team").usd_held
            assert held > 0.001  # the price of 100 tokens of answer, and of what was sent
            stream.close()
        assert eventually(lambda: spent(tmp_path, "team").usd_held == 0)
        figures = spent(tmp_path, "team")
        assert figures.usd_in_all == pytest.approx(held)
        run = recorded(app, 1)[0]
        assert (run["status"], run["key"]) == ("cancelled", "team")


@pytest.mark.requirement("I15.3.104")
def test_more_requests_and_tokens_than_a_minute_allows_are_429_with_the_time_to_wait(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [said("one"), said("two")]) as app:
        few, short = (
            new_key(tmp_path, "few", requests_per_minute=1),
            new_key(tmp_path, "short", tokens_per_minute=160),
        )
        with clients(app, few) as (first, second):
            assert asked(first) == "one"
            with pytest.raises(openai.RateLimitError, match="1 requests a minute") as caught:
                asked(first)
            assert 0 < int(caught.value.response.headers["retry-after"]) <= 60
            with pytest.raises(anthropic.RateLimitError) as again:
                second.messages.create(model=MODEL, max_tokens=9, messages=ASKED)
            assert again.value.response.headers["retry-after"]
            with pytest.raises(anthropic.RateLimitError):
                second.messages.count_tokens(model=MODEL, messages=ASKED)
        with clients(app, short) as (first, _):
            long: list[Any] = [{"role": "user", "content": "word " * 100}]
            with pytest.raises(openai.RateLimitError, match="make it shorter") as never:
                asked(first, messages=long)
            assert "retry-after" not in never.value.response.headers
            assert asked(first, extra_headers={"X-Toolspan-Tools": "none"}) == "two"


@pytest.mark.requirement("I15.3.105")
def test_a_key_that_is_revoked_or_expires_while_the_server_runs_is_refused_at_once(tmp_path: Path) -> None:
    replies = [said("one"), calling("get_weather", city="Rome")]
    with keyed_gateway(tmp_path, replies) as app:
        key = new_key(tmp_path, "team")
        old = new_key(tmp_path, "old", expires=time.time() - 1)
        with clients(app, key) as (first, second), closing(KeyStore(tmp_path / ".toolspan")) as store:
            assert asked(first) == "one"
            store.revoke("team")
            with pytest.raises(openai.AuthenticationError, match="'team' was revoked"):
                asked(first)
            with pytest.raises(anthropic.AuthenticationError, match="'team' was revoked"):
                second.messages.create(model=MODEL, max_tokens=9, messages=ASKED)
        with clients(app, old) as (first, _), pytest.raises(openai.AuthenticationError, match="expired on"):
            asked(first)


@pytest.mark.requirement("I15.3.106")
def test_the_principal_of_a_key_is_its_own(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [said("mine"), said("more")]) as app:
        one, other = new_key(tmp_path, "one"), new_key(tmp_path, "other")
        with clients(app, one) as (first, _), clients(app, other) as (second, _):
            stored = first.responses.create(model=MODEL, input="Hello")
            with pytest.raises(openai.BadRequestError, match="not found"):
                second.responses.create(model=MODEL, input="And?", previous_response_id=stored.id)
            more = first.responses.create(model=MODEL, input="And?", previous_response_id=stored.id)
            assert more.output_text == "more"
        principals = {(each["principal"], each["key"]) for each in recorded(app, 3)}
        with closing(KeyStore(tmp_path / ".toolspan")) as store:
            assert principals == {(f"key {each.id}", each.name) for each in store.all()}


@pytest.mark.requirement("I15.3.107")
def test_where_the_config_requires_keys_the_gateway_needs_one_also_here(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [said("one")], web={"keys": "required"}) as app:
        key = new_key(tmp_path, "team")
        assert app.ask("GET", "/api/health").status == 200
        with clients(app, "none") as (first, second):
            with pytest.raises(openai.AuthenticationError, match="A virtual key is needed"):
                asked(first)
            with pytest.raises(anthropic.AuthenticationError):
                second.models.list()
        with clients(app, key) as (first, _):
            assert asked(first) == "one"
        (tmp_path / "toolspan.yaml").write_text("version: 1")
        assert eventually(lambda: app.ask("GET", "/v1/models").status == 200)


@pytest.mark.requirement("I15.3.107")
def test_beyond_this_machine_keys_alone_let_in_to_the_gateway_and_nobody_to_the_api(tmp_path: Path) -> None:
    config: dict[str, Any] = {"version": 1, "tools": {"registry": [WEATHER]}}
    with (
        pytest.raises(AssertionError, match=r"web\.keys: required"),
        web_app(tmp_path, "--host", "0.0.0.0", config=json.dumps(config)),
    ):
        pass
    config["web"] = {"keys": "required"}
    with web_app(tmp_path, "--host", "0.0.0.0", config=json.dumps(config)) as app:
        key = new_key(tmp_path, "team")
        assert app.ask("GET", "/api/health").status == 401
        assert app.ask("GET", "/v1/models").status == 401
        assert app.ask("GET", "/v1/models", Authorization=f"Bearer {key}").status == 200
        assert app.ask("GET", "/api/health", Authorization=f"Bearer {key}").status == 403


@pytest.mark.requirement("I15.3.103")
def test_a_server_that_ends_leaves_nothing_held_and_charges_what_was_held(tmp_path: Path) -> None:
    begun = pieces("A long answer that is given up", stall=True)
    with keyed_gateway(tmp_path, [replace(begun, frames=(begun.frames or ())[:4])]) as app:
        key = new_key(tmp_path, "team", usd_in_all=1.0)
        with clients(app, key) as (first, _):
            completions: Any = first.chat.completions
            stream = completions.create(model=MODEL, messages=ASKED, max_tokens=100, stream=True)
            said_so_far = ""
            while "long" not in said_so_far:
                said_so_far += next(stream).choices[0].delta.content or ""
            assert app.end() == 0
        figures = spent(tmp_path, "team")
        assert figures.usd_held == 0
        assert 0.001 < figures.usd_in_all < 0.003


@pytest.mark.requirement("I15.3.102")
def test_requests_side_by_side_spend_no_more_than_there_is(tmp_path: Path) -> None:
    many = 12
    with keyed_gateway(tmp_path, [said("yes")] * many) as app:
        key = new_key(tmp_path, "team", usd_in_all=0.006)  # each may cost $0.0021
        with clients(app, key) as (first, _):

            def ask(_number: int) -> str:
                try:
                    return asked(first)
                except openai.RateLimitError as error:
                    return str(error.code)

            with ThreadPoolExecutor(many) as threads:
                answers = [*threads.map(ask, range(many))]
        assert {*answers} <= {"yes", "rate_limited"}
        assert "yes" in answers
        figures = spent(tmp_path, "team")
        assert figures.usd_in_all == pytest.approx(answers.count("yes") * TURN_USD)
        assert figures.usd_held == 0


@pytest.mark.requirement("I24.6.1")
def test_a_key_with_a_budget_is_answered_by_the_service_of_the_standard_price(tmp_path: Path) -> None:
    config = json.dumps({"version": 1, "tools": {"registry": [WEATHER]}})
    with Provider(anything, [said("standard"), said("by the account's own choice")]) as provider:
        known = {"OPENAI_BASE_URL": f"{provider.url}/v1", "OPENAI_API_KEY": "sk-of-the-provider"}
        with web_app(tmp_path, config=config, **known) as app:
            limited, free = new_key(tmp_path, "team", usd_in_all=1.0), new_key(tmp_path, "free")
            with clients(app, limited) as (first, _):
                with pytest.raises(openai.PermissionDeniedError, match="service tier 'priority'") as caught:
                    asked(first, service_tier="priority")
                assert caught.value.code == "unknown_price"
                asked(first)
            with clients(app, free) as (first, _):
                asked(first, service_tier="priority")
        sent = [each.body.get("service_tier") for each in provider.received if each.method == "POST"]
    assert sent == ["default", "priority"]
    assert spent(tmp_path, "team").usd_in_all == pytest.approx(TURN_USD)
