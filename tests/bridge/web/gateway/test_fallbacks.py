"""Deployments that fail, through the gateway as a process: the next one answers, and it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.fake_providers import Sent
from tests.support.keyed_gateway import OPENAI, deployed, pieces, recorded, said
from tests.support.wire_peers import streamed

pytestmark = pytest.mark.long
ASKED: list[Any] = [{"role": "user", "content": "Hello"}]
BUSY = Sent({"error": {"message": "slow down", "type": "rate_limit"}}, 429, {"retry-after": "30"})
BROKEN = Sent({"error": {"message": "oops", "type": "server_error"}}, 500)
LONG = Sent(
    {
        "error": {
            "message": "This model's maximum context length is 10 tokens",
            "code": "context_length_exceeded",
        }
    },
    400,
)


def asked(url: str, *, stream: bool = False) -> tuple[str, Any]:
    """The text of the answer, and the headers of the response."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        completions: Any = client.chat.completions.with_raw_response
        raw = completions.create(model="models/fast", messages=ASKED, stream=stream)
        parsed = raw.parse()
        if stream:
            text = "".join(chunk.choices[0].delta.content or "" for chunk in parsed if chunk.choices)
        else:
            text = parsed.choices[0].message.content
        return text, raw.headers


@pytest.mark.requirement("I15.3.112")
def test_the_next_deployment_answers_whole_and_streamed_and_header_and_activity_say_so(
    tmp_path: Path,
) -> None:
    hangs_up = streamed("openai", hang_up=True)
    first = [BROKEN, BROKEN, hangs_up]
    second = [said("fine"), pieces("streamed"), pieces("begun anew")]
    with deployed(tmp_path, {"first": first, "second": second}, failures=9) as (app, fakes):
        text, headers = asked(app.url)
        assert (text, headers["x-toolspan-deployments"]) == ("fine", "first/m failed, second/m answered")
        assert "second/m answers" in headers["x-toolspan-warning"]
        for words in ("streamed", "begun anew"):
            text, headers = asked(app.url, stream=True)
            assert (text, headers["x-toolspan-deployments"]) == (words, "first/m failed")
        assert [len(fake.received) for fake in fakes.values()] == [3, 3]
        for run in recorded(app, 3):
            assert (run["status"], run["model"], run["source"]) == ("ok", "fast", "/v1/chat/completions")
            assert [(each["deployment"], each["outcome"]) for each in run["tried"]] == [
                ("first/m", "failed"),
                ("second/m", "answered"),
            ]


@pytest.mark.requirement("I15.3.112")
def test_a_busy_deployment_is_left_alone_and_where_all_are_the_client_is_told_when_to_come_again(
    tmp_path: Path,
) -> None:
    replies = {"first": [BUSY], "second": [said("one"), said("two"), BUSY]}
    with deployed(tmp_path, replies) as (app, fakes):
        assert asked(app.url)[1]["x-toolspan-deployments"] == "first/m failed, second/m answered"
        assert asked(app.url)[1]["x-toolspan-deployments"] == "first/m skipped, second/m answered"
        with pytest.raises(openai.RateLimitError, match="no deployment of models/fast answers") as caught:
            asked(app.url)
        assert 0 < int(caught.value.response.headers["retry-after"]) <= 30
        with pytest.raises(openai.InternalServerError) as again:
            asked(app.url, stream=True)
        assert again.value.status_code == 503
        assert 0 < int(again.value.response.headers["retry-after"]) <= 30
        assert [len(fake.received) for fake in fakes.values()] == [1, 3]
        last = recorded(app, 4)[0]
        assert (last["status"], last["usd"]) == ("error", 0.0)
        assert [each["outcome"] for each in last["tried"]] == ["skipped", "skipped"]


@pytest.mark.requirement("I15.3.112")
def test_a_request_that_is_too_long_goes_to_the_model_with_more_context_or_is_400(tmp_path: Path) -> None:
    replies = {"first": [LONG, LONG], "second": [said("never")], "big": [said("long"), LONG]}
    with deployed(tmp_path, replies, larger=("big",)) as (app, fakes):
        text, headers = asked(app.url)
        assert (text, headers["x-toolspan-deployments"]) == ("long", "first/m failed, big/m answered")
        with pytest.raises(openai.BadRequestError) as caught:
            asked(app.url)
        assert caught.value.code == "context_length_exceeded"
        assert fakes["second"].received == []


@pytest.mark.requirement("I15.3.112")
def test_a_stream_that_fails_after_its_first_piece_is_never_begun_anew(tmp_path: Path) -> None:
    broken = streamed("openai", *OPENAI.frames("Hello there")[:2], hang_up=True)
    with deployed(tmp_path, {"first": [broken], "second": [pieces("never")]}) as (app, fakes):
        with pytest.raises(openai.APIError):
            asked(app.url, stream=True)
        assert fakes["second"].received == []
        assert recorded(app, 1)[0]["status"] == "error"
