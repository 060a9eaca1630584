"""Forms and pages at a real terminal, asked by real servers; and without a terminal."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan_process
from tests.support.mcp_peers import talker
from tests.support.terminal import Terminal
from tests.support.waiting import BOUND_S
from toolspan_bridge import (
    ClientFeatures,
    Conversation,
    ModelSampler,
    Question,
    Scripted,
    Toolbox,
    Unattended,
    Usage,
)
from toolspan_bridge.cli.terminal.talk import Printer, talk
from toolspan_bridge.providers.prices import Pricing
from toolspan_bridge.sessions.costs import CostMeter

pytestmark = pytest.mark.long

CTRL_C, CTRL_D, CLEAR = "\x03", "\x04", "\x15"
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "age": {"type": "integer", "minimum": 18, "default": 30},
        "news": {"type": "boolean"},
        "colour": {
            "type": "string",
            "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}],
        },
        "days": {"type": "array", "items": {"enum": ["mon", "tue", "wed"]}, "minItems": 1},
        "note": {"type": "string", "description": "Anything else."},
    },
    "required": ["name", "age", "days"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    servers = {}
    for era in ("old", "new"):
        command, *arguments = talker(era).command
        servers[era] = {"command": command, "args": list(arguments)}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"mcpServers": servers}))
    return tmp_path


def put(era: str, params: dict[str, Any], method: str = "elicitation/create") -> tuple[str, ...]:
    arguments = json.dumps({"method": method, "params": params})
    return ("tools", "call", f"{era}/put", "--arguments", arguments, "--config", "mine.yaml")


@pytest.mark.requirement("I12.2.12")
@pytest.mark.parametrize("era", ["old", "new"])
def test_a_form_is_filled_in_field_by_field_and_held_to_its_schema(era: str, folder: Path) -> None:
    question = {"message": "Who are\x1b[31m you?", "requestedSchema": FORM}
    with Terminal(*put(era, question), cwd=folder) as terminal:
        shown = terminal.until("answer?")
        assert f"put of the server '{era}' asks:" in shown
        assert r"Who are\x1b[31m you?" in shown and "Never give it passwords" in shown
        terminal.type("a\r")
        terminal.until("Your name:")
        terminal.type("A\r")
        terminal.until("2 character")
        terminal.type("da\r")
        terminal.until("age:")
        terminal.until("30")
        terminal.type(CLEAR + "7\r")
        terminal.until("18")
        terminal.type(CLEAR + "41\r")
        terminal.until("news:")
        terminal.type("\r")
        terminal.until("2 Green")
        terminal.until("colour:")
        terminal.type("2\r")
        terminal.until("3 wed")
        terminal.until("days:")
        terminal.type("1, wed\r")
        terminal.until("Anything else.")
        terminal.until("note:")
        terminal.type("\r")
        terminal.until("send?")
        terminal.type("s\r")
        terminal.until("accept")
        assert terminal.ended() == 0
    shown = terminal.shown.replace("\r\n", "")
    answer = json.loads(shown[shown.rindex('{"answer"') :].split("\x1b")[0].strip().strip('"'))["answer"]
    assert answer == {
        "action": "accept",
        "content": {"name": "Ada", "age": 41, "colour": "g", "days": ["mon", "wed"]},
    }


@pytest.mark.requirement("I12.2.12")
@pytest.mark.parametrize(("keys", "action"), [("d\r", "decline"), (CTRL_D, "cancel")])
def test_a_form_can_be_declined_and_left(keys: str, action: str, folder: Path) -> None:
    with Terminal(*put("new", {"message": "?", "requestedSchema": FORM}), cwd=folder) as terminal:
        terminal.until("answer?")
        terminal.type(keys)
        terminal.until(action)
        assert terminal.ended() == 0


@pytest.mark.requirement("I12.2.12")
@pytest.mark.parametrize("era", ["old", "new"])
def test_ctrl_c_in_a_form_ends_the_command(era: str, folder: Path) -> None:
    with Terminal(*put(era, {"message": "?", "requestedSchema": FORM}), cwd=folder) as terminal:
        terminal.until("answer?")
        terminal.type(CTRL_C)
        terminal.until("interrupted")
        assert terminal.ended() == 130
        assert "Traceback" not in terminal.shown


@pytest.mark.requirement("I12.2.13")
@pytest.mark.parametrize("yes", [True, False])
def test_a_page_is_opened_after_a_yes_and_never_before(
    yes: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {folder}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    params = {"mode": "url", "message": "Sign in", "url": "https://xn--pple-43d.com/in", "elicitationId": "1"}
    with Terminal(*put("new", params), cwd=folder) as terminal:
        shown = terminal.until("open?")
        assert "host: xn--pple-43d.com" in shown and "CYRILLIC, LATIN" in shown
        assert not (folder / "opened").exists()
        terminal.type("y\r" if yes else "n\r")
        terminal.until("accept" if yes else "decline")
        assert terminal.ended() == 0
    assert (folder / "opened").exists() is yes
    if yes:
        assert (folder / "opened").read_text() == "https://xn--pple-43d.com/in\n"


@pytest.mark.requirement("I12.2.80")
@pytest.mark.parametrize(("keys", "code"), [("\r", 0), ("n\r", 5)])
def test_a_page_before_a_call_is_visited_and_the_person_says_when_they_are_done(
    keys: str, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "true")
    arguments = json.dumps({"pages": ["a"]})
    words = ("tools", "call", "old/visited", "--arguments", arguments, "--config", "mine.yaml")
    with Terminal(*words, cwd=folder) as terminal:
        shown = terminal.until("open?")
        assert "wants you to visit a page before it goes on" in shown and "https://a.example/" in shown
        terminal.type("y\r")
        terminal.until("done?")
        terminal.type(keys)
        terminal.until("call 2" if code == 0 else "was declined")
        assert terminal.ended() == code


@pytest.mark.requirement("I12.2.80")
def test_without_a_terminal_a_page_before_a_call_is_not_visited_and_it_is_said(folder: Path) -> None:
    arguments = json.dumps({"pages": ["a"]})
    ran = toolspan_process(
        "tools", "call", "old/visited", "--arguments", arguments, "--config", "mine.yaml", cwd=folder
    )
    assert ran.code == 5
    assert "asks to visit a page ('Sign in'), and there is no terminal to ask at" in ran.err


@pytest.mark.requirement("I12.2.14")
@pytest.mark.parametrize("era", ["old", "new"])
def test_without_a_terminal_a_question_is_cancelled_and_stderr_says_who_asked_what(
    era: str, folder: Path
) -> None:
    ran = toolspan_process(*put(era, {"message": "Who?", "requestedSchema": FORM}), cwd=folder)
    assert (ran.code, '{"action": "cancel"}' in ran.out) == (0, True)
    assert f"put of the server '{era}' asks for name, age, news, colour, days, note ('Who?')" in ran.err


@pytest.mark.requirement("I12.2.11", "I12.2.15")
@pytest.mark.parametrize("era", ["old", "new"])
def test_ask_lets_a_server_have_the_model_asked_where_that_is_allowed(era: str, folder: Path) -> None:
    turns = [{"calls": [{"tool": f"{era}__sample", "arguments": {}}]}, {"text": "a poem"}, {"text": "done"}]
    (folder / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    words = ("ask", "Go", "-m", "scripted/turns.yaml", "--config", "mine.yaml")
    allowed = toolspan_process(*words, "--approve", f"sampling:{era}", cwd=folder)
    assert (allowed.code, allowed.out) == (0, "done\n")
    assert "a poem" in allowed.err and "its server had turns.yaml asked" in allowed.err
    denied = toolspan_process(*words, cwd=folder)
    assert "User rejected sampling request" in denied.err and "done" not in denied.out


@pytest.mark.requirement("I12.2.11")
def test_a_person_is_shown_what_a_server_wants_the_model_asked(folder: Path) -> None:
    (folder / "turns.yaml").write_text(yaml.safe_dump({"turns": [{"text": "a poem"}]}))
    model = ("--model", "scripted/turns.yaml", "--config", "mine.yaml")
    with Terminal("tools", "call", "new/sample", *model, cwd=folder, size=(60, 200)) as terminal:
        shown = terminal.until("allow?")
        assert "sampling:new of the server 'new' needs approval: the server wants to have your model" in shown
        assert '"text": "Hi"' in shown
        terminal.type("y\r")
        terminal.until("a poem")
        assert terminal.ended() == 0


@pytest.mark.requirement("I12.2.7")
@pytest.mark.parametrize("era", ["old", "new"])
def test_the_workspace_is_the_one_root(era: str, folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    words = ("tools", "call", f"{era}/roots", "--config", "mine.yaml", "--json")
    with_one = toolspan_process(*words, "--workspace", str(work), cwd=folder)
    roots = json.loads(with_one.json["result"])["answer"]["roots"]
    assert roots == [{"uri": work.as_uri(), "name": "work"}]
    without = toolspan_process(*words, cwd=folder)
    assert "support" in json.dumps(without.json)


@pytest.mark.requirement("I12.2.9")
@pytest.mark.parametrize("era", ["old", "new"])
def test_progress_and_log_messages_are_shown_and_the_level_is_an_option(era: str, folder: Path) -> None:
    words = ("tools", "call", f"{era}/report", "--config", "mine.yaml")
    ran = toolspan_process(*words, cwd=folder)
    assert "report: 2 of 2, step 2" in ran.err and "report [info]: working 0" in ran.err
    assert "working" not in toolspan_process(*words, "--log-level", "error", cwd=folder).err


@pytest.mark.requirement("I12.2.12")
def test_a_chat_asks_in_each_turn_and_goes_on(folder: Path) -> None:
    call = {"calls": [{"tool": "old__elicit", "arguments": {}}]}
    turns = [call, {"text": "first"}, call, {"text": "second"}]
    (folder / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    words = ("-m", "scripted/turns.yaml", "--config", "mine.yaml", "--approve", "elicit")
    with Terminal("chat", *words, cwd=folder) as terminal:
        for said in ("first", "second"):
            terminal.until("you>")
            terminal.type("Go\r")
            terminal.until("answer?")
            terminal.type("a\r")
            terminal.until("city:")
            terminal.until("city:")
            terminal.type("Paris\r")
            terminal.until("send?")
            terminal.type("s\r")
            terminal.until("its question was answered")
            terminal.until(said)
        terminal.until("you>")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0
    kept = next((folder / ".toolspan" / "conversations").glob("*.jsonl")).read_text()
    assert kept.count('"elicitation_answer"') == 2 and '"Paris"' in kept


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.15")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_what_a_server_samples_is_added_to_the_cost_of_the_question(era: str) -> None:
    usages: list[int] = []

    class Counting(CostMeter):
        def add(self, usage: Usage) -> None:
            usages.append(usage.output_tokens)

    turns = [
        {"calls": [{"tool": "sample", "arguments": {}}], "usage": {"output_tokens": 1}},
        {"text": "poem", "usage": {"output_tokens": 5}},
        {"text": "x", "usage": {"output_tokens": 2}},
    ]
    model = Scripted(turns)
    sampler = ModelSampler(model, "m", Unattended(allowed=["sampling:*"]))
    with anyio.fail_after(BOUND_S):
        features = ClientFeatures(sampler=sampler)
        async with Toolbox.connect([talker(era)], client=features, connect_timeout=BOUND_S) as toolbox:
            meter, conversation = Counting(Pricing("scripted", "m")), Conversation()
            await talk(Question("Go", "m"), model, toolbox, Printer(StringIO()), conversation, meter)
    assert (usages, conversation.tokens) == ([1, 5, 2], 8)
