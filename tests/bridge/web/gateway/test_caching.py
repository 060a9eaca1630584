"""Answers that are given again, where the client asks for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.support.gateway import WEATHER, Gateway, gateway
from tests.support.keyed_gateway import MODEL, TURN_USD, keyed_gateway, new_key, recorded, said, spent
from tests.support.local_tools import Performed, turn
from tests.support.waiting import eventually
from toolspan_bridge.messages import Assistant, Usage
from toolspan_bridge.web.gateway.pieces import Finished
from toolspan_bridge.web.gateway.replies import Collected, Turn
from toolspan_bridge.web.gateway.serving.cached import CachedAnswer, CachedAnswers

ASKED: list[Any] = [{"role": "user", "content": "Hello"}]
KEPT = {"X-Toolspan-Cache": "60"}


def asked(
    served: Gateway, key: str = "k", kept: dict[str, str] | None = KEPT, **more: Any
) -> tuple[str, str | None]:
    """The text of an answer, streamed or whole, and what is said of the cache."""
    wanted: dict[str, Any] = {"model": "m/x", "messages": ASKED, **more}
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=key, max_retries=0) as client:
        completions: Any = client.chat.completions.with_raw_response
        raw = completions.create(**wanted, extra_headers=kept)
        parsed = raw.parse()
        if wanted.get("stream"):
            text = "".join(chunk.choices[0].delta.content or "" for chunk in parsed if chunk.choices)
        else:
            text = parsed.choices[0].message.content
        return text, raw.headers.get("x-toolspan-cache")


@pytest.mark.requirement("I15.3.108")
def test_an_answer_is_kept_only_where_the_client_asks_and_given_again_whole_and_streamed() -> None:
    with gateway([{"text": each} for each in ("one", "two", "three", "four")]) as served:
        assert asked(served, kept=None) == ("one", None)
        assert asked(served) == ("two", "miss")
        assert asked(served) == ("two", "hit")
        assert asked(served, stream=True) == ("two", "hit")
        assert asked(served, stream=True, stream_options={"include_usage": True}) == ("two", "hit")
        assert asked(served, kept=None) == ("three", None)
        assert asked(served, kept={"X-Toolspan-Cache": "0"}) == ("four", None)
    assert len(served.requests) == 4


@pytest.mark.requirement("I15.3.108")
def test_another_request_and_another_principal_have_answers_of_their_own() -> None:
    others: list[dict[str, Any]] = [
        {"key": "other"},
        {"temperature": 0.5},
        {"messages": [{"role": "user", "content": "Hello!"}]},
        {"model": "m/y"},
        {"max_tokens": 5},
    ]
    answers = [f"answer {number}" for number in range(len(others) + 1)]
    with gateway([{"text": each} for each in answers]) as served:
        assert asked(served) == ("answer 0", "miss")
        for more, answer in zip(others, answers[1:], strict=True):
            assert asked(served, **more) == (answer, "miss")
        assert asked(served) == ("answer 0", "hit")


@pytest.mark.requirement("I15.3.109")
def test_what_our_tools_ran_for_what_broke_off_and_what_was_refused_is_not_kept() -> None:
    broken = {"error": {"status": 500, "message": "broke"}}
    turns = [turn(("look", {})), {"text": "ran"}, broken, {"text": "whole"}]
    with gateway(turns, Performed("look")) as served:
        assert asked(served) == ("ran", "miss")
        with pytest.raises(openai.InternalServerError):
            asked(served)
        assert asked(served) == ("whole", "miss")
        assert asked(served) == ("whole", "hit")


@pytest.mark.requirement("I15.3.109")
def test_kept_calls_of_the_clients_own_tools_come_again_and_the_conversation_goes_on() -> None:
    tools: list[Any] = [
        {"name": "weather", "description": "Weather", "input_schema": WEATHER},
    ]
    turns = [turn(("weather", {"city": "Rome"})), {"text": "It rains."}, {"text": "Rain again."}]
    with (
        gateway(turns) as served,
        anthropic.Anthropic(base_url=served.url, api_key="k", max_retries=0) as client,
    ):
        ids: list[str] = []
        for words in ("It rains.", "Rain again."):
            begun = client.messages.create(
                model="m/x", max_tokens=9, messages=ASKED, tools=tools, extra_headers=KEPT
            )
            call: Any = begun.content[0]
            assert (call.type, call.input) == ("tool_use", {"city": "Rome"})
            ids.append(call.id)
            result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}
            history: list[Any] = [
                *ASKED,
                {"role": "assistant", "content": [call.to_dict()]},
                {"role": "user", "content": [result]},
            ]
            ended: Any = client.messages.create(model="m/x", max_tokens=9, messages=history, tools=tools)
            assert ended.content[0].text == words
    assert len(set(ids)) == 2
    first, second = (request.messages[1].calls[0].id for request in served.requests[1:])
    assert first == second  # the provider's own id: the hidden turn was put back both times


@pytest.mark.requirement("I15.3.109")
@pytest.mark.parametrize("wrong", ["-1", "1.5", "yes", "86401", "9" * 99])
def test_a_time_that_is_none_is_refused(wrong: str) -> None:
    with gateway([]) as served, pytest.raises(openai.BadRequestError, match="number of seconds"):
        asked(served, kept={"X-Toolspan-Cache": wrong})


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answer(text: str) -> CachedAnswer:
    return CachedAnswer(Collected((Turn(text),), Finished("stop", Usage())), (Assistant(text),), "c")


@pytest.mark.requirement("I15.3.110")
def test_kept_answers_are_bounded_in_number_bytes_and_time() -> None:
    clock = Clock()
    kept = CachedAnswers(most=2, most_bytes=10_000, clock=clock)
    for name in ("a", "b", "c"):
        kept.keep(name, 1, answer(name), 60)
        assert kept.find(name, 1)
    assert kept.find("a", 1) is None
    kept.keep("large", 1, answer("x" * 4_000), 60)
    assert [name for name in ("b", "c", "large") if kept.find(name, 1)] == ["c", "large"]
    kept.keep("too large", 1, answer("x" * 20_000), 60)
    assert kept.find("too large", 1) is None
    kept.keep("d", 1, answer("d"), 60)
    clock.now = 60.0
    assert kept.find("d", 1) is None


@pytest.mark.requirement("I15.3.110")
def test_a_changed_config_forgets_all_and_takes_nothing_of_before() -> None:
    kept = CachedAnswers()
    kept.keep("a", 1, answer("a"), 60)
    assert kept.find("a", 2) is None
    kept.keep("late", 1, answer("late"), 60)
    assert kept.find("late", 2) is None
    kept.keep("b", 2, answer("b"), 60)
    assert kept.find("b", 2) == answer("b")


@pytest.mark.long
@pytest.mark.requirement("I15.3.111")
def test_what_is_given_again_costs_nothing_is_recorded_and_ends_with_an_edit_of_the_config(
    tmp_path: Path,
) -> None:
    with keyed_gateway(tmp_path, [said("one"), said("two"), said("mine")], web={"cache_seconds": 600}) as app:
        key, other = new_key(tmp_path, "team", usd_in_all=1.0), new_key(tmp_path, "other")

        def ask(key: str) -> tuple[str, str]:
            body = {"model": MODEL, "messages": ASKED}
            reply = app.ask("POST", "/v1/chat/completions", body, Authorization=f"Bearer {key}")
            return reply.json["choices"][0]["message"]["content"], reply.headers["x-toolspan-cache"]

        assert [ask(key), ask(key), ask(other)] == [("one", "miss"), ("one", "hit"), ("two", "miss")]
        assert spent(tmp_path, "team").usd_in_all == pytest.approx(TURN_USD)
        assert spent(tmp_path, "team").requests == 2
        again = recorded(app, 3)[1]
        assert (again["kind"], again["usd"], again["key"]) == ("request", 0.0, "team")
        assert (again["model"], again["tried"][0]["deployment"]) == ("gpt-4o", "cache")
        config = json.loads((tmp_path / "toolspan.yaml").read_text())
        config["tools"]["registry"][0]["description"] = "Weather of a town."
        (tmp_path / "toolspan.yaml").write_text(json.dumps(config))
        assert eventually(lambda: "Weather of a town." in app.ask("GET", "/api/tools/list").body.decode())
        assert ask(key) == ("mine", "miss")
