"""Hooks before and after a question and a call."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from tests.support.cli import Ran, toolspan
from tests.support.local_tools import Performed, answered, box, events_of, outcomes, turn
from toolspan_bridge import (
    Approval,
    ApprovalRequest,
    Conversation,
    Hook,
    HookDecision,
    HookInput,
    HookRan,
    Question,
    Scripted,
    ToolApprovalRequest,
    User,
)
from toolspan_bridge.loop.hooks import hooks_of, installed_hooks
from toolspan_server.config import load_config, untrusted_hooks
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.anyio

TURNS = [turn(("look", {"n": 1})), {"text": "done"}]


def asked(*hooks: Hook) -> Question:
    return Question("?", "m", system="Be kind.", hooks=hooks)


def ran(events: list[Any]) -> list[tuple[str, str]]:
    return [(event.point, event.outcome) for event in events if isinstance(event, HookRan)]


@pytest.mark.requirement("I12.5.35")
async def test_hooks_change_the_question_a_call_its_result_and_the_answer() -> None:
    def turn_(given: HookInput) -> HookDecision:
        return HookDecision(text=given.text + "!", system=given.system + " Be brief.")

    async def call(given: HookInput) -> HookDecision:
        return HookDecision(arguments={"n": 2})

    def result(given: HookInput) -> HookDecision:
        assert given.result is not None
        return HookDecision(result={"was": given.result["result"]})

    def told(given: HookInput) -> HookDecision:
        return HookDecision(content=given.content.upper())

    hooks = [
        Hook("a", "before_turn", turn_),
        Hook("b", "before_call", call),
        Hook("c", "after_call", result),
        Hook("d", "after_turn", told),
    ]
    look, talk, provider = Performed("look"), Conversation(), Scripted(TURNS)
    events = await events_of(asked(*hooks), provider, box(look), talk)
    assert (provider.requests[0].system, provider.requests[0].messages) == (
        "Be kind. Be brief.",
        (User("?!"),),
    )
    assert look.calls == [{"n": 2}]
    (outcome,) = outcomes(talk)
    assert outcome.result["result"] == {"was": {"seen": {"n": 2}}}
    assert "A hook changed the arguments of this call to" in str(outcome.parts)
    assert answered(events).content == "DONE"
    points = ["before_turn", "before_call", "after_call", "after_turn"]
    assert ran(events) == [(point, "changed") for point in points]


@pytest.mark.requirement("I12.5.35")
@pytest.mark.parametrize("point", ["before_turn", "before_call", "after_call", "after_turn"])
async def test_a_hook_denies(point: Any) -> None:
    def no(given: HookInput) -> HookDecision:
        return HookDecision(deny="not today")

    look, talk, provider = Performed("look"), Conversation(), Scripted(TURNS)
    events = await events_of(asked(Hook("no", point, no)), provider, box(look), talk)
    told = answered(events)
    assert (point, "denied") in ran(events)
    if point.endswith("turn"):
        assert (told.stop, "not today" in told.reason) == ("denied", True)
        assert len(provider.requests) == (0 if point == "before_turn" else 2)
    else:
        (outcome,) = outcomes(talk)
        assert outcome.result["error_code"] == "denied" and "not today" in outcome.result["error"]
        assert len(look.calls) == (0 if point == "before_call" else 1)


@pytest.mark.requirement("I12.5.35")
async def test_a_hook_may_be_a_tool_and_of_some_calls_only() -> None:
    async def judge(call: Any) -> Any:
        return {"deny": f"{call.arguments['tool']} is off"}

    look, judging, talk = Performed("look"), Performed("judge", judge), Conversation()
    hook = Hook("judge", "before_call", tool="toolspan/judge", tools=("lo*",))
    turns = [turn(("look", {}), ("other", {})), {"text": "done"}]
    other = Performed("other")
    await events_of(asked(hook), Scripted(turns), box(look, other, judging), talk)
    assert [outcome.failed for outcome in outcomes(talk)] == [True, False]
    assert (len(judging.calls), look.calls, len(other.calls)) == (1, [], 1)


@pytest.mark.requirement("I12.5.36")
@pytest.mark.parametrize("policy", ["deny", "ignore"])
@pytest.mark.parametrize("kind", ["raises", "hangs", "wrong", "missing tool"])
async def test_a_hook_that_fails_denies_or_is_ignored(policy: Any, kind: str) -> None:
    async def bad(given: HookInput) -> Any:
        if kind == "raises":
            raise ValueError("broken")
        if kind == "hangs":
            await anyio.sleep(math.inf)
        return "yes"

    function, tool = (None, "no/such") if kind == "missing tool" else (bad, "")
    hook = Hook("bad", "before_call", function, tool, seconds=0.2, on_error=policy)
    look, talk = Performed("look"), Conversation()
    events = await events_of(asked(hook), Scripted(TURNS), box(look), talk)
    assert ran(events) == [("before_call", "denied" if policy == "deny" else "failed")]
    assert len(look.calls) == (0 if policy == "deny" else 1)


class Person:
    """Allows what is asked, with ``arguments`` instead if there are any."""

    def __init__(self, arguments: dict[str, Any] | None = None) -> None:
        self.seen: list[Any] = []
        self._arguments = arguments

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Any) -> str:
        return "it says so"

    async def decide(self, request: ApprovalRequest) -> Approval:
        self.seen.append(dict(request.arguments))
        return Approval(allowed=True, decider="person", arguments=self._arguments)


@pytest.mark.requirement("I12.5.37")
async def test_the_person_is_asked_about_what_the_hook_made_of_a_call_and_that_runs() -> None:
    def change(given: HookInput) -> HookDecision:
        return HookDecision(arguments={"n": 7})

    look, person = Performed("look"), Person()
    hooks = asked(Hook("seven", "before_call", change))
    events = await events_of(hooks, Scripted(TURNS), box(look), approver=person)
    shown = [event.arguments for event in events if isinstance(event, ToolApprovalRequest)]
    assert (person.seen, shown, look.calls) == ([{"n": 7}], [{"n": 7}], [{"n": 7}])


@pytest.mark.requirement("I12.5.37")
async def test_what_a_person_wrote_instead_is_seen_by_the_hooks_and_never_changed_by_them() -> None:
    def guard(given: HookInput) -> HookDecision | None:
        assert given.arguments is not None
        return HookDecision(deny="too many") if given.arguments["n"] > 5 else None

    look, talk = Performed("look"), Conversation()
    question = asked(Hook("guard", "before_call", guard))
    await events_of(question, Scripted(TURNS), box(look), talk, approver=Person({"n": 9}))
    (outcome,) = outcomes(talk)
    assert (outcome.result["error_code"], look.calls) == ("denied", [])


CONFIG = """
hooks:
  - {point: before_call, python: "guard.py:check", tools: [look]}
tools:
  registry:
    - {name: look, description: Looks., implementation: {type: mock, mock_response: seen}}
"""
GUARD = """
from toolspan_bridge import HookDecision

def check(given):
    return HookDecision(deny="not here")
"""


def configured(folder: Path, *options: str) -> Ran:
    (folder / "toolspan.yaml").write_text(CONFIG)
    (folder / "guard.py").write_text(GUARD)
    (folder / "turns.yaml").write_text(json.dumps({"turns": TURNS}))
    return toolspan("ask", "Hi", "-m", "scripted/turns.yaml", *options, "--json", cwd=folder)


@pytest.mark.long
@pytest.mark.requirement("I12.5.38")
def test_a_named_config_s_hooks_run_and_a_found_one_s_only_with_consent(tmp_path: Path) -> None:
    ran_ = configured(tmp_path, "-c", "toolspan.yaml")
    (use,) = ran_.json["tool_calls"]
    assert use["result"]["error"] == "Denied by a hook: not here"
    found = configured(tmp_path)
    assert found.code == 0 and found.json["tool_calls"][0]["result"]["result"] == "seen"
    assert "this folder is not trusted" in found.err and "run guard.py:check before each call" in found.err
    trusted = configured(tmp_path, "--trust")
    assert trusted.json["tool_calls"][0]["result"]["error"] == "Denied by a hook: not here"


@pytest.mark.requirement("I12.5.38")
@pytest.mark.parametrize("wrong", ["guard.py:nope", "gone.py:check", "no_such_module:check"])
def test_a_hook_that_cannot_be_used_is_named(tmp_path: Path, wrong: str) -> None:
    configured(tmp_path, "-c", "toolspan.yaml")
    (tmp_path / "wrong.yaml").write_text(CONFIG.replace("guard.py:check", wrong))
    ran_ = toolspan("ask", "Hi", "-m", "scripted/turns.yaml", "-c", "wrong.yaml", cwd=tmp_path)
    assert ran_.code == 2 and f"$.hooks[0].python: {wrong}" in ran_.err


@pytest.mark.requirement("I12.5.38", "I12.5.54")
def test_an_installed_package_brings_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_guard.py").write_text(
        "from toolspan_bridge import Hook\nhook = Hook('installed', 'before_call', lambda given: None)\n"
    )
    info = tmp_path / "some_guard-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-guard\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[toolspan.hooks]\nguard = some_guard:hook\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert [(hook.name, hook.package) for hook in installed_hooks()] == [("installed", "some-guard")]
    (tmp_path / "tools.yaml").write_text(CONFIG[CONFIG.index("tools:\n  registry") :])
    ran_ = toolspan("tools", "call", "look", "-c", "tools.yaml", cwd=tmp_path)
    assert ran_.out == "seen\n"
    assert "the hook installed of the installed package some-guard runs before each call" in ran_.err


@pytest.mark.requirement("I12.5.52")
def test_the_hook_file_that_was_looked_at_is_what_is_run(tmp_path: Path) -> None:
    configured(tmp_path, "-c", "toolspan.yaml")
    (tmp_path / "guard.py").write_text("import helper\n" + GUARD)
    (tmp_path / "helper.py").write_text("")
    config = load_config(tmp_path / "toolspan.yaml")
    (looked_at,) = untrusted_hooks(config)
    assert "file guard.py" in looked_at.contents
    withheld = load_config(tmp_path / "toolspan.yaml", restricted=True).withheld
    assert any("file helper.py" in item.contents for item in withheld)
    monkey = "from toolspan_bridge import HookDecision\ndef check(given): return None\n"
    (tmp_path / "guard.py").write_text(monkey)
    sys.modules["helper"] = ModuleType("helper")
    try:
        (hook,) = hooks_of(config)
    finally:
        del sys.modules["helper"]
    assert hook.function is not None
    assert hook.function(HookInput("before_call")) == HookDecision(deny="not here")
    (changed,) = untrusted_hooks(load_config(tmp_path / "toolspan.yaml"))
    assert changed.contents["file guard.py"] != looked_at.contents["file guard.py"]


@pytest.mark.requirement("I12.5.53")
def test_a_call_from_the_command_line_runs_the_hooks_of_calls(tmp_path: Path) -> None:
    configured(tmp_path, "-c", "toolspan.yaml")
    ran_ = toolspan("tools", "call", "look", "-c", "toolspan.yaml", cwd=tmp_path)
    assert ran_.code == 5 and "Denied by a hook: not here" in ran_.err
    assert "hook guard.py:check denied look: not here" in ran_.err
    both = CONFIG.replace('"guard.py:check", tools', '"pair.py:one", tools').replace(
        "tools:\n", '  - {point: after_call, python: "pair.py:two"}\ntools:\n', 1
    )
    (tmp_path / "toolspan.yaml").write_text(both)
    (tmp_path / "pair.py").write_text(
        "from toolspan_bridge import HookDecision\nseen = []\n"
        "def one(given): seen.append(given.tool)\n"
        "def two(given): return HookDecision(result=seen)\n"
    )
    ran_ = toolspan("tools", "call", "look", "-c", "toolspan.yaml", "--json", cwd=tmp_path)
    assert ran_.json["result"] == ["look"]


@pytest.mark.requirement("I12.5.54")
def test_what_hooks_did_is_kept_with_the_conversation_and_shown(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text(json.dumps({"turns": TURNS}))
    others = [("before_turn", "louder"), ("after_turn", "let")]
    more = "".join(f'  - {{point: {point}, python: "guard.py:{name}"}}\n' for point, name in others)
    (tmp_path / "toolspan.yaml").write_text(CONFIG.replace("hooks:\n", "hooks:\n" + more))
    (tmp_path / "guard.py").write_text(
        GUARD
        + "def louder(given): return HookDecision(text=given.text + '!')\n"
        + "def let(given): assert given.model == 'turns.yaml'\n"
    )
    options = ("-c", "toolspan.yaml")
    ran_ = toolspan("ask", "Hi", "-m", "scripted/turns.yaml", *options, cwd=tmp_path)
    assert ran_.code == 0
    shown = toolspan("conversations", "show", "latest", *options, cwd=tmp_path).out
    assert "  hook guard.py:louder changed\n[1] you> Hi!\n" in shown
    assert "  hook guard.py:check denied look: not here\n← failed: Denied by a hook" in shown
    data = toolspan("conversations", "show", "latest", "--json", *options, cwd=tmp_path).json
    kept = [(note["point"], note["outcome"]) for note in data["notes"] if note["kind"] == "hook"]
    assert kept == [("before_turn", "changed"), ("before_call", "denied"), ("after_turn", "passed")]
    for live in ((), ("--live-tools",)):
        again = toolspan("conversations", "replay", "latest", *live, *options, cwd=tmp_path)
        assert "then: hook guard.py:check denied look: not here" in again.out
        assert again.out.endswith("calls: 1, differences: 0\n")
    text = toolspan("conversations", "export", "latest", *options, cwd=tmp_path).out
    assert "*The hook guard.py:check denied look not here*" in text
