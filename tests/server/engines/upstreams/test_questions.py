"""What an upstream asks during a call reaches the client that made it, across the eras of the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.mcp_peers import talker_over_http
from tests.support.upstreams import FakeClient, ReturningClient, raw, served, talker, until
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import InputRequired
from toolspan_server.calls.context import Context
from toolspan_server.live.runtime import Runtime
from toolspan_server.tools.services import _client_relay

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.4", "I4.4.1")]

ERAS = ["old", "new"]
ACCEPTED = {"action": "accept", "content": {"city": "Paris"}}
SAMPLED = {
    "role": "assistant",
    "content": {"type": "text", "text": "Hello"},
    "model": "m",
    "stopReason": "endTurn",
}
ROOTS = {"roots": [{"uri": "file:///work"}]}
ANSWERS: dict[str, Any] = {"elicitation": ACCEPTED, "sampling": SAMPLED, "roots": ROOTS}
TOOLS = [("elicit", "elicitation"), ("sample", "sampling"), ("roots", "roots")]
ALL = ["elicitation", "sampling", "roots"]


async def rounds(runtime: Runtime, tool: str, client: ReturningClient) -> tuple[Any, ReturningClient, int]:
    """Call ``tool`` until it needs no more: its result, the last round's client, the number of rounds."""
    for count in range(1, 6):
        try:
            return await runtime.execute(tool, {}, Context(LOCAL, client=client)), client, count
        except InputRequired as needed:
            client = client.come_back(needed)
    raise AssertionError("five rounds")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "ability"), [("elicit", "elicitation"), ("sample", "sampling"), ("roots", "roots")]
)
async def test_a_client_that_waits_is_asked_in_place(
    tmp_path: Path, era: str, tool: str, ability: str
) -> None:
    async with served(tmp_path, {"talker": talker(era, may_ask=ALL)}) as runtime:
        client = FakeClient(ANSWERS)
        result = await runtime.execute(tool, {}, Context(LOCAL, client=client))
        assert json.loads(result.result)["answer"] == ANSWERS[ability]
        (question,) = client.asked
        assert question.ability == ability
        if tool == "elicit":
            assert question.params["message"] == "Which city?"


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_comes_back_is_asked_round_by_round(tmp_path: Path, era: str) -> None:
    async with served(tmp_path, {"talker": talker(era)}) as runtime:
        result, client, count = await rounds(runtime, "twice", ReturningClient(ANSWERS))
        assert json.loads(result.result) == {"answer": ACCEPTED, "calls": 1}
        assert (count, len(client.asked)) == (3, 2)


async def test_a_call_that_is_gone_when_its_client_comes_back_is_made_anew_with_the_answers(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, {"talker": talker("old")}) as runtime:
        client = ReturningClient(ANSWERS)
        with pytest.raises(InputRequired) as caught:
            await runtime.execute("elicit", {}, Context(LOCAL, client=client))
        runtime.snapshot.services["upstreams"].upstreams["talker"].relay_of_caller(LOCAL).end()  # type: ignore[attr-defined]
        await anyio.wait_all_tasks_blocked()
        client = client.come_back(caught.value)
        result = await runtime.execute("elicit", {}, Context(LOCAL, client=client))
        assert json.loads(result.result) == {"answer": ACCEPTED, "calls": 2}
        assert len(client.asked) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_that_the_config_does_not_allow_is_refused(tmp_path: Path, era: str) -> None:
    async with served(tmp_path, {"talker": talker(era)}) as runtime:
        client = FakeClient(ANSWERS)
        refused = await runtime.execute("sample", {}, Context(LOCAL, client=client))
        said = refused.result if era == "old" else refused.error
        assert ("sampling is not allowed here" if era == "old" else "may_ask does not allow") in said
        assert not client.asked


async def test_a_client_that_cannot_answer_is_not_asked(tmp_path: Path) -> None:
    async with served(tmp_path, {"talker": talker("old")}) as runtime:
        result = await runtime.execute("elicit", {}, Context(LOCAL, client=FakeClient()))
        assert "the client does not support elicitation" in result.result
        assert "client" in (await runtime.execute("elicit", None, LOCAL)).result


async def test_no_client_is_asked_what_may_be_meant_for_another(tmp_path: Path) -> None:
    async with served(tmp_path, {"talker": talker("old")}) as runtime:
        other, client = FakeClient(ANSWERS), FakeClient(ANSWERS)
        note = tmp_path / "note"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runtime.execute, "hang", {"note": str(note)}, Context(LOCAL, client=other))
            await until(Path(f"{note}.started").exists)
            result = await runtime.execute("elicit", {}, Context(LOCAL, client=client))
            tasks.cancel_scope.cancel()
        assert "several calls run" in result.result
        assert not other.asked and not client.asked


async def test_no_client_is_asked_what_a_cancelled_call_may_still_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, {"talker": talker("old")}) as runtime:
        client, note = FakeClient(ANSWERS), tmp_path / "note"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                runtime.execute, "hang", {"note": str(note)}, Context(LOCAL, client=FakeClient())
            )
            await until(Path(f"{note}.started").exists)
            tasks.cancel_scope.cancel()
        refused = await runtime.execute("elicit", {}, Context(LOCAL, client=client))
        assert "one was just cancelled" in refused.result and not client.asked
        monkeypatch.setattr(_client_relay, "LATE_SECONDS", 0.0)
        with anyio.move_on_after(0.01):
            await runtime.execute("hang", {"note": str(tmp_path / "other")}, Context(LOCAL, client=client))
        assert json.loads((await runtime.execute("elicit", {}, Context(LOCAL, client=client))).result)[
            "answer"
        ]


async def test_over_http_each_client_hears_and_answers_only_its_own_call(tmp_path: Path) -> None:
    with talker_over_http() as url:
        async with served(tmp_path, {"talker": {"url": url}}) as runtime:
            other, client = FakeClient(ANSWERS), FakeClient(ANSWERS)
            note = tmp_path / "note"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(runtime.execute, "hang", {"note": str(note)}, Context(LOCAL, client=other))
                await until(Path(f"{note}.started").exists)
                result = await runtime.execute("elicit", {}, Context(LOCAL, client=client))
                assert (await runtime.execute("report", {}, Context(LOCAL, client=client))).success
                tasks.cancel_scope.cancel()
            assert json.loads(result.result)["answer"] == ACCEPTED
            assert len(client.asked) == 1 and client.heard == [("log", "info", "working 0")]
            assert not other.asked and not other.heard


async def test_questions_of_an_upstream_that_may_ask_nothing_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path, {"raw": raw(may_ask=[])}, {"upstream": "raw", "include": ["ask"]}) as runtime:
        result = await runtime.execute("ask", {}, Context(LOCAL, client=FakeClient(ANSWERS)))
        assert result.result == "refused refused"
