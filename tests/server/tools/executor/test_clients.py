"""What a tool says to its client and asks of it: in time, bounded, without secrets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.asked_client import Waiting, accepting
from tests.support.executors import builtin, executor_of, tool
from toolspan_server import (
    Context,
    Executor,
    ToolFailure,
    handler,
)
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import Question
from toolspan_server.errors import RequestRefused

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.4.1")]

NAME = {"name": Question("elicitation", {"message": "Your name?"})}
Script = Callable[[Context], Awaitable[Any]]


@handler("clients.run", talks=True)
async def run(arguments: dict[str, Any], context: Context) -> Any:
    return await SCRIPTS[-1](context)


SCRIPTS: list[Script] = []


def asking(script: Script, timeout_ms: int = 100, **options: Any) -> Executor:
    """An executor of the tool ``ask``, which is ``script``, and of pipelines around it."""
    SCRIPTS.append(script)
    around = {"type": "pipeline", "steps": [{"id": "a", "tool": "ask"}]}
    each = {"type": "pipeline", "steps": [{"id": "a", "tool": "ask", "for_each": [1, 2, 3]}]}
    return executor_of(
        builtin("ask", "clients.run", timeout_ms=timeout_ms),
        tool("around", around, timeout_ms=timeout_ms),
        tool("each", each, timeout_ms=timeout_ms),
        **options,
    )


class Slow(Waiting):
    """Answers after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.logged: list[Any] = []

    async def ask(self, questions: Any) -> dict[str, Any]:
        await asyncio.sleep(self.seconds)
        return await super().ask(questions)

    async def log(self, level: Any, data: Any, logger: str | None = None) -> None:
        self.logged.append(data)


async def answered(context: Context) -> Any:
    return (await context.client.ask(NAME))["name"]["action"]


@pytest.mark.parametrize("name", ["ask", "around", "each"])
async def test_the_time_that_a_person_takes_is_not_the_tools(name: str) -> None:
    result = await asking(answered, 50).execute(name, {}, Context(LOCAL, client=Slow(0.15)))
    assert (result.error, result.result) == ("", ["accept"] * 3 if name == "each" else "accept")


async def test_the_clock_goes_on_after_the_answer() -> None:
    async def late(context: Context) -> None:
        await context.client.ask(NAME)
        await asyncio.sleep(10)

    result = await asking(late, 50).execute("ask", {}, Context(LOCAL, client=Slow(0.05)))
    assert result.error_code == "timeout"
    assert 100 <= result.execution_time_ms < 2_000


async def test_a_tool_whose_time_is_over_gains_none_by_asking() -> None:
    tries: list[int] = []

    async def stubborn(context: Context) -> Any:
        while len(tries) < 1:
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                tries.append(1)
        return await context.client.ask(NAME)

    result = await asking(stubborn, 20).execute("ask", {}, Context(LOCAL, client=Slow(30)))
    assert result.error_code == "timeout"


@pytest.mark.parametrize("name", ["ask", "around", "each"])
async def test_an_answer_that_never_comes_is_not_waited_for_without_end(name: str) -> None:
    result = await asking(answered, answer_seconds=0.05).execute(name, {}, Context(LOCAL, client=Slow(30)))
    assert result.error_code == "no_answer"
    assert result.error.endswith("within 0.05 seconds (limits.answer_seconds)")


async def test_what_a_tool_says_is_plain_bounded_and_without_secrets() -> None:
    async def talk(context: Context) -> Any:
        client = context.client
        await client.progress(1, float("inf"), "at s3cret\ud800" + "x" * 1_000_000)
        await client.progress(float("nan"))
        for data in ({"key": "s3cret"}, "s3cret", {1, 2}, ["x" * 1_000_000]):
            await client.log("info", data)
        question = Question("elicitation", {"message": "Is it s3cret?"})
        return await client.ask({"q": question})

    client = Slow(0)
    executor = asking(talk, 5_000, redact=lambda text: text.replace("s3cret", "***"))
    assert (await executor.execute("ask", {}, Context(LOCAL, client=client))).success
    ((progress, total, message),) = client.heard
    assert (progress, total, len(str(message)) <= 4_001) == (1, None, True)
    assert str(message).startswith("at ***\\ud800xxx")
    assert client.logged[:3] == [{"key": "***"}, "***", "{1, 2}"]
    assert len(client.logged[3]) <= 4_001
    assert client.asked["q"].params == {"message": "Is it ***?"}


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"message": {1}}, "'message' is of the Python type set"),
        ({"message": "x" * 300_000}, "262,144 bytes"),
    ],
)
async def test_a_question_that_cannot_be_sent_is_a_failure(params: Any, told: str) -> None:
    async def ask(context: Context) -> Any:
        return await context.client.ask({"q": Question("elicitation", params)})

    assert told in (await asking(ask).execute("ask", {}, Context(LOCAL, client=Waiting(accepting)))).error


async def test_the_content_of_a_failure_is_held_to_what_results_are() -> None:
    blocks = ({"type": "text", "text": "s3cret \ud800"}, {"type": "text", "text": "x" * 50_000})

    async def fail(context: Context) -> Any:
        raise ToolFailure("no", content=blocks)

    executor = asking(fail, redact=lambda text: text.replace("s3cret", "***"), max_result_bytes=5_000)
    content = (await executor.execute("ask", None, LOCAL)).content
    assert content is not None
    assert content[0]["text"] == "*** \\ud800"
    assert content[1]["text"].partition("\n")[2].startswith("[cut here: a text of 50,028 bytes")
    assert len(json.dumps(content)) < 6_000


async def test_a_failure_whose_content_no_json_can_hold_keeps_its_error() -> None:
    async def fail(context: Context) -> Any:
        raise ToolFailure("no", content=({"type": "text", "text": object()},))

    result = await asking(fail).execute("ask", None, LOCAL)
    assert (result.error, result.content) == ("no", None)


@pytest.mark.parametrize(("data", "told"), [({"a": ["s3cret"]}, {"a": ["***"]}), ({"a": {1}}, None)])
async def test_a_refusal_shows_no_secret(data: Any, told: Any) -> None:
    async def refuse(context: Context) -> Any:
        raise RequestRefused(-32602, "not s3cret", data)

    executor = asking(refuse, redact=lambda text: text.replace("s3cret", "***"))
    with pytest.raises(RequestRefused) as raised:
        await executor.execute("ask", None, LOCAL)
    assert (raised.value.message, raised.value.data) == ("not ***", told)
