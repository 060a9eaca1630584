"""The calls of one turn: a call that sends may carry what others of its turn read or left on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.local_tools import Performed, box, events_of, outcomes, turn
from tests.support.waiting import BOUND_S
from toolspan_bridge import Conversation, Question, ToolApprovalRequest
from toolspan_bridge.approvals import PolicyApprover
from toolspan_bridge.loop import Limits
from toolspan_bridge.loop.hooks.contract import Hook, HookDecision
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox.local import LocalCall, LocalFailure

pytestmark = pytest.mark.requirement("I24.2.4")

Call = tuple[str, dict[str, Any]]
KEY = "-----BEGIN PRIVATE KEY-----"


class Here(Performed):
    """A tool whose calls stay on this machine, and give ``result``."""

    def __init__(self, name: str, result: str = "nothing", **hints: Any) -> None:
        async def give(_call: LocalCall) -> str:
            return result

        super().__init__(name, give, **hints)
        details = {**self.definition.details, "_meta": {"dev.toolspan/reach": "local"}}
        self.definition = replace(self.definition, details=details)


class Log:
    """A set of tools, and the order in which their calls were begun."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.tools = {
            "look": Here("look", readOnlyHint=True),
            "copy": Here("copy"),
            "move": Here("move", idempotentHint=False),  # runs alone
            "dump": Here("dump", KEY),
            "send": Performed("send"),
            "find": Performed("find", readOnlyHint=True),
        }

    def performed(self, name: str) -> int:
        return len(self.tools[name].calls)


async def run_turn(
    log: Log, calls: Sequence[Call], talk: Conversation, hooks: tuple[Hook, ...] = ()
) -> list[str]:
    """Play one turn with nobody to ask; the tools that were asked about, in order."""
    script = Scripted([turn(*calls), {"text": "done"}])
    events = await events_of(
        Question("Go", "m", max_parallel=4, hooks=hooks),
        script,
        box(*log.tools.values()),
        talk,
        approver=PolicyApprover("never"),
    )
    return [each.tool for each in events if isinstance(each, ToolApprovalRequest)]


def play(*calls: Call) -> tuple[Log, list[str]]:
    log = Log()
    return log, anyio.run(run_turn, log, calls, Conversation())


@pytest.mark.parametrize("tool", ["copy", "move"])
def test_what_an_earlier_call_of_the_turn_copied_counts(tool: str) -> None:
    log, asked = play((tool, {"from": ".env", "to": "public/x"}), ("send", {"path": "public/x"}))
    assert (asked, log.performed(tool), log.performed("send")) == (["send"], 1, 0)


def test_what_the_result_of_an_earlier_call_shows_counts_where_it_could_have_been_left_here() -> None:
    log, asked = play(("dump", {"to": "public/x"}), ("send", {"path": "public/x"}))
    assert (asked, log.performed("dump"), log.performed("send")) == (["send"], 1, 0)


def test_what_a_call_names_that_runs_beside_it_counts() -> None:
    log, asked = play(("find", {"q": "x"}), ("look", {"path": ".netrc"}))
    assert (asked, log.performed("look"), log.performed("find")) == (["find"], 1, 0)


def test_what_a_call_names_that_begins_only_after_it_has_ended_does_not_count() -> None:
    log, asked = play(
        ("copy", {"to": "a"}), ("send", {"q": "x"}), ("copy", {"to": "b"}), ("find", {"q": "y"}),
        ("look", {"path": ".netrc"}),
    )  # fmt: skip
    assert asked == ["find"]
    assert (log.performed("send"), log.performed("find"), log.performed("look")) == (1, 0, 1)


def test_calls_that_nobody_has_to_wait_for_run_side_by_side() -> None:
    started: list[str] = []

    async def both() -> None:
        met = anyio.Event()

        async def meet(call: LocalCall) -> str:
            started.append(call.id)
            if len(started) == 2:
                met.set()
            with anyio.fail_after(BOUND_S):
                await met.wait()
            return "met"

        tools = box(Performed("find", meet, readOnlyHint=True), Performed("list", meet, readOnlyHint=True))
        script = Scripted([turn(("find", {}), ("list", {})), {"text": "done"}])
        await events_of(Question("Go", "m", max_parallel=4), script, tools)

    anyio.run(both)
    assert len(started) == 2


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["look", "copy", "move"]),
            st.sampled_from([{"path": "a.txt"}, {"path": ".env"}, {"path": "id_rsa.bak"}]),
        ),
        st.tuples(st.sampled_from(["dump", "send", "find"]), st.just({"path": "a.txt"})),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_no_call_sends_anything_after_a_secret_in_whatever_order_a_turn_has_them(
    steps: list[Call],
) -> None:
    log, asked = play(*steps)
    secret = [name == "dump" or arguments["path"] != "a.txt" for name, arguments in steps]
    sending = [place for place, (name, _) in enumerate(steps) if name in ("send", "find")]
    may_run = [place for place in sending if not any(secret[:place])]
    assert log.performed("send") + log.performed("find") <= len(may_run)
    if not any(secret) and len(sending) == 1:
        assert not asked and log.performed("send") + log.performed("find") == 1


async def fail(_call: LocalCall) -> str:
    raise LocalFailure("exit code 1", "command_failed", "Look at it.")


def test_a_call_that_failed_has_read_what_it_names() -> None:
    log, talk = Log(), Conversation()
    copy = log.tools["copy"] = Here("copy")
    copy.perform = fail
    calls: list[Call] = [("copy", {"from": ".env"}), ("send", {})]
    assert anyio.run(run_turn, log, calls, talk) == ["send"]
    assert [mark.what for mark in outcomes(talk)[0].marks or ()] == [
        ".env (environment variables, usually with keys)"
    ]


def test_a_result_that_a_hook_withheld_keeps_its_marks() -> None:
    hook = Hook("withhold", "after_call", lambda _given: HookDecision(deny="private"), tools=("dump",))
    log, talk = Log(), Conversation()
    calls: list[Call] = [("dump", {}), ("send", {})]
    asked = anyio.run(run_turn, log, calls, talk, (hook,))
    assert asked == ["send"]
    assert [mark.what for mark in outcomes(talk)[0].marks or ()] == ["a private key"]


def test_a_call_that_is_cut_short_has_read_what_it_names() -> None:
    log, talk = Log(), Conversation()

    async def wait(_call: LocalCall) -> str:
        await anyio.sleep_forever()
        return ""

    log.tools["copy"].perform = wait

    async def run_and_leave() -> None:
        script = Scripted([turn(("copy", {"from": ".env"})), {"text": "done"}])
        question = Question("Go", "m", limits=Limits(seconds=0.2))
        await events_of(question, script, box(log.tools["copy"]), talk, approver=PolicyApprover("never"))

    anyio.run(run_and_leave)
    assert outcomes(talk)[0].marks
