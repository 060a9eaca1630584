"""What servers ask during calls and say meanwhile, in both eras, over stdio and HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.asking import Heard, Model, Person, Waiting, heard
from tests.support.mcp_peers import talker, talker_over_http
from tests.support.waiting import BOUND_S
from toolspan_bridge import (
    ClientFeatures,
    ClientLimits,
    Elicited,
    Limits,
    Question,
    Roots,
    Scripted,
    ServerSpec,
    Toolbox,
    answer,
)
from toolspan_bridge.toolbox.reports import (
    CallElicitation,
    CallElicited,
    CallLog,
    CallNotice,
    CallProgress,
    CallSampled,
    CallSampling,
)

pytestmark = pytest.mark.anyio
ERAS = ["old", "new"]
WAYS = [*ERAS, "http"]
PARIS = Elicited("accept", {"city": "Paris"})


@asynccontextmanager
async def connected(way: str, client: ClientFeatures | None, **more: Any) -> AsyncGenerator[Toolbox]:
    """A toolbox of the talking server: over stdio in an era, or over HTTP."""
    with ExitStack() as stack, anyio.fail_after(BOUND_S):
        if way == "http":
            spec = ServerSpec("talker", kind="http", url=stack.enter_context(talker_over_http()), **more)
        else:
            spec = talker(way, **more)
        async with Toolbox.connect([spec], client=client, connect_timeout=BOUND_S) as toolbox:
            assert toolbox.failures == ()
            yield toolbox


def answer_in(call: Heard) -> Any:
    """What the server says it was answered."""
    return json.loads(call.value)["answer"]


def put(method: str, params: dict[str, Any], times: int = 1) -> dict[str, Any]:
    """Arguments of the tool that asks what it is told to."""
    return {"method": method, "params": params, "times": times}


@pytest.mark.requirement("I12.2.1")
@pytest.mark.parametrize("way", WAYS)
async def test_a_server_asks_the_person_and_goes_on_with_the_answer(way: str) -> None:
    person = Person([PARIS])
    async with connected(way, ClientFeatures(elicitor=person)) as toolbox:
        call = await heard(toolbox, "elicit")
    assert answer_in(call) == {"action": "accept", "content": {"city": "Paris"}}
    (question,) = person.asked
    assert (question.server, question.tool, question.message) == ("talker", "elicit", "Which city?")
    assert [(field.name, field.kind, field.required) for field in question.fields] == [("city", "text", True)]
    (asked,), (answered,) = call.of(CallElicitation), call.of(CallElicited)
    assert (asked.question, answered.answer, asked.number) == (question, PARIS, answered.number)


@pytest.mark.requirement("I12.2.1")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_and_no_answer_are_told_as_such(way: str, action: Any) -> None:
    async with connected(way, ClientFeatures(elicitor=Person([Elicited(action)]))) as toolbox:
        assert answer_in(await heard(toolbox, "elicit")) == {"action": action}


@pytest.mark.requirement("I12.2.2")
@pytest.mark.parametrize("era", ERAS)
async def test_several_rounds_are_answered_and_too_many_are_not(era: str) -> None:
    person = Person([PARIS])
    limits = ClientLimits(rounds=3, questions=3)
    question = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    async with connected(era, ClientFeatures(person, limits=limits)) as toolbox:
        twice = await heard(toolbox, "twice")
        asked = len(person.asked)
        endless = await heard(toolbox, "put", put("elicitation/create", question, times=6))
    assert (answer_in(twice)["action"], asked, len(person.asked)) == ("accept", 2, 5)
    if era == "new":
        assert endless.outcome.result["error_code"] == "input_refused"
        assert "more than 3 times" in endless.value
    else:
        assert answer_in(endless) == {"action": "decline"}
        (notice,) = endless.of(CallNotice)
        assert "asked more than 3 questions in one call" in notice.text


@pytest.mark.requirement("I12.2.3")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "url", ["https://example.com/x?y=1", "file:///etc/passwd", "javascript:1", "nowhere"]
)
async def test_a_page_is_asked_for_by_its_address_and_nothing_else_is_a_page(url: str, era: str) -> None:
    person = Person([Elicited("accept")])
    params = {"mode": "url", "message": "Sign in", "url": url, "elicitationId": "7"}
    async with connected(era, ClientFeatures(person)) as toolbox:
        call = await heard(toolbox, "put", put("elicitation/create", params))
    if url.startswith("https"):
        assert (person.asked[0].mode, person.asked[0].url, person.asked[0].id) == ("url", url, "7")
        assert answer_in(call) == {"action": "accept"}
    else:
        assert person.asked == []
        assert "address of a page is needed" in str(call.value)


@pytest.mark.requirement("I12.2.1")
@pytest.mark.parametrize("era", ERAS)
async def test_a_question_is_withdrawn_when_its_call_is_cancelled(era: str) -> None:
    person = Waiting()
    async with connected(era, ClientFeatures(person)) as toolbox:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(heard, toolbox, "elicit")
            await person.asked.wait()
            tasks.cancel_scope.cancel()
        await person.left.wait()
        assert (await heard(toolbox, "told")).outcome.result["success"] is True


@pytest.mark.long
@pytest.mark.requirement("I12.2.4")
@pytest.mark.parametrize("era", ERAS)
async def test_the_time_in_which_a_person_is_asked_does_not_count(era: str) -> None:
    class Slow(Person):
        async def elicit(self, question: Any) -> Elicited:
            await anyio.sleep(0.6)
            return await super().elicit(question)

    async with connected(era, ClientFeatures(Slow([PARIS])), call_timeout=0.5) as toolbox:
        assert answer_in(await heard(toolbox, "elicit"))["action"] == "accept"


@pytest.mark.requirement("I12.2.5")
@pytest.mark.parametrize("way", WAYS)
async def test_a_server_has_the_model_asked(way: str) -> None:
    model = Model("Hello!")
    async with connected(way, ClientFeatures(sampler=model)) as toolbox:
        call = await heard(toolbox, "sample")
    assert answer_in(call) == {
        "role": "assistant",
        "content": {"type": "text", "text": "Hello!"},
        "model": "some-model",
        "stopReason": "endTurn",
    }
    (sampling,) = model.asked
    assert (sampling.server, sampling.tool, sampling.request.max_tokens) == ("talker", "sample", 5)
    (asked,), (sampled,) = call.of(CallSampling), call.of(CallSampled)
    assert asked.params["maxTokens"] == 5
    assert sampled.result == answer_in(call) and sampled.sampled.usage.output_tokens == 10


@pytest.mark.requirement("I12.2.6")
@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (ClientLimits(samples=2, rounds=9), "more than 2 samples in one call"),
        (ClientLimits(session_samples=2, rounds=9), "more than 2 samples in this session"),
        (ClientLimits(session_tokens=20, rounds=9), "more than 20 tokens of samples in this session"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_flood_of_questions_to_the_model_is_cut_off_and_said_once(
    limits: ClientLimits, said: str, era: str
) -> None:
    model = Model(tokens=10)
    params = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 9_999}
    async with connected(era, ClientFeatures(sampler=model, limits=limits)) as toolbox:
        call = await heard(toolbox, "put", put("sampling/createMessage", params, times=5))
    assert len(model.asked) == 2
    assert model.asked[0].request.max_tokens == limits.sample_tokens
    assert said in str(call.value)
    assert [notice.text for notice in call.of(CallNotice)] == [
        f"The server 'talker' wanted {said}: further ones are refused"
    ]


@pytest.mark.requirement("I12.2.7")
@pytest.mark.parametrize("way", WAYS)
async def test_roots_are_the_folders_that_were_given_and_only_those(way: str, tmp_path: Path) -> None:
    roots = Roots([tmp_path])
    async with connected(way, ClientFeatures(roots=roots)) as toolbox:
        one = answer_in(await heard(toolbox, "roots"))
        roots.replace([])
        none = answer_in(await heard(toolbox, "roots"))
    assert one == {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}
    assert none == {"roots": []}


@pytest.mark.requirement("I12.2.7")
async def test_servers_of_the_old_era_are_told_when_the_roots_change(tmp_path: Path) -> None:
    roots = Roots([tmp_path])
    async with connected("old", ClientFeatures(roots=roots)) as toolbox:
        roots.replace([tmp_path / "other"])
        told = 0
        while not told:
            told = json.loads((await heard(toolbox, "told")).value)["roots_changed"] or 0
    assert told == 1
    roots.replace([])  # nobody is connected any more


@pytest.mark.requirement("I12.2.8")
@pytest.mark.parametrize("way", WAYS)
async def test_what_is_not_offered_is_refused_and_not_declared(way: str) -> None:
    async with connected(way, None) as toolbox:
        for tool in ("elicit", "sample", "roots"):
            assert "support" in str((await heard(toolbox, tool)).value)
        told = json.loads((await heard(toolbox, "told")).value)
    declared = told["capabilities"] or told["meta"].get("io.modelcontextprotocol/clientCapabilities", {})
    assert not {"elicitation", "sampling", "roots"} & set(declared)


@pytest.mark.requirement("I12.2.8")
@pytest.mark.parametrize("way", WAYS)
async def test_what_is_offered_is_declared(way: str, tmp_path: Path) -> None:
    features = ClientFeatures(Person([PARIS]), Model(), Roots([tmp_path]))
    async with connected(way, features) as toolbox:
        told = json.loads((await heard(toolbox, "told")).value)
    declared = told["capabilities"] or told["meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert {key: declared[key] for key in ("elicitation", "sampling", "roots")} == {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {"listChanged": True},
    }


@pytest.mark.requirement("I12.2.9")
@pytest.mark.parametrize("way", WAYS)
async def test_progress_and_log_messages_are_reported_with_their_call(way: str) -> None:
    async with connected(way, None) as toolbox:
        call = await heard(toolbox, "report", {"logs": 2})
    assert call.of(CallProgress)[-1] == CallProgress(2, 2, "step 2")
    assert call.of(CallLog) == [CallLog("info", "working 0"), CallLog("info", "working 1")]


@pytest.mark.requirement("I12.2.9")
@pytest.mark.parametrize("era", ERAS)
async def test_a_flood_of_progress_and_log_messages_is_bounded(era: str) -> None:
    limits = ClientLimits(logs=10)
    async with connected(era, ClientFeatures(limits=limits)) as toolbox:
        call = await heard(toolbox, "report", {"logs": 500, "steps": 500})
    assert len(call.of(CallLog)) == 10
    assert [notice.text for notice in call.of(CallNotice)] == [
        "report sent 490 more log messages than the 10 that are shown"
    ]
    assert 1 <= len(call.of(CallProgress)) < 200
    assert call.of(CallProgress)[-1].progress == 500


@pytest.mark.requirement("I12.2.9")
@pytest.mark.parametrize("era", ERAS)
async def test_log_messages_below_the_level_are_left_out_and_the_server_is_told(era: str) -> None:
    async with connected(era, ClientFeatures(log_level="warning")) as toolbox:
        assert (await heard(toolbox, "report")).of(CallLog) == []
        told = json.loads((await heard(toolbox, "told")).value)
    level = told["level"] if era == "old" else told["meta"]["io.modelcontextprotocol/logLevel"]
    assert level == "warning"


@pytest.mark.long
@pytest.mark.requirement("I12.2.4")
@pytest.mark.parametrize("era", ERAS)
async def test_progress_begins_the_timeout_anew_within_a_maximum_where_that_is_set(era: str) -> None:
    paced = {"steps": 10, "seconds": 0.3}
    kept, short = ClientLimits(progress_seconds=BOUND_S), ClientLimits(progress_seconds=2.2)
    async with connected(era, ClientFeatures(limits=kept), call_timeout=2) as toolbox:
        assert (await heard(toolbox, "pace", paced)).value == "done"
    for limits in (short, ClientLimits()):
        async with connected(era, ClientFeatures(limits=limits), call_timeout=2) as toolbox:
            assert (await heard(toolbox, "pace", paced)).outcome.result["error_code"] == "timeout"


@pytest.mark.long
@pytest.mark.requirement("I12.2.4")
async def test_a_question_of_a_server_takes_none_of_the_time_of_the_persons_question() -> None:
    class Slow(Person):
        async def elicit(self, question: Any) -> Elicited:
            await anyio.sleep(6)
            return await super().elicit(question)

    turns = [{"calls": [{"tool": "elicit", "arguments": {}}]}, {"text": "done"}]
    question = Question("Go", "m", limits=Limits(seconds=5))
    async with connected("old", ClientFeatures(Slow([PARIS]))) as toolbox:
        reached = await answer(question, Scripted(turns), toolbox)
    assert (reached.content, reached.stop) == ("done", "end")
