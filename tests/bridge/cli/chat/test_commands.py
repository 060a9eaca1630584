"""The commands of a chat, in the middle of a conversation with tool calls."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires
from toolspan_bridge.cli.chat.commands import GROUPS, commands
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import Assistant, ToolResults, User

CONFIG = """
name: shop
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
    - name: stock
      description: What is in stock
      implementation: {type: mock, response: {apples: 3}}
"""
CALL = {"calls": [{"tool": "calculate", "arguments": {"expression": "6*7"}}], "text": "Let me see."}
STOCK = {"calls": [{"tool": "stock", "arguments": {}}]}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    return tmp_path


def script(folder: Path, *turns: dict[str, Any], name: str = "script.yaml") -> str:
    (folder / name).write_text(yaml.safe_dump({"turns": list(turns)}))
    return f"scripted/{folder / name}"


def chat(folder: Path, *lines: str, model: str, options: tuple[str, ...] = ()) -> Ran:
    arguments = ("chat", "--trust", "-m", model, *options)
    return toolspan(*arguments, cwd=folder, stdin="".join(f"{line}\n" for line in lines))


def kept(folder: Path) -> Conversation:
    return Conversation.load(folder / "talk.json")


@pytest.mark.long
@pytest.mark.requirement("I13.4.20")
def test_a_command_is_found_by_a_beginning_that_only_it_has_and_by_none_else(shop: Path) -> None:
    ran = chat(shop, "/mod", "/re", "/modle x", "/x", "/help undo", model="offline/keyword")
    assert ran.code == 1  # two lines were no commands
    assert "offline/keyword answers; /model PROVIDER/MODEL changes it" in ran.err
    assert "/re may be /reasoning, /resources, /resume, /retry: write more of it" in ran.err
    assert "there is no command /modle (did you mean /model?)" in ran.err
    assert "there is no command /x (known: approve, changes" in ran.err
    assert "/undo [FILE|all] – takes back the last change" in ran.err


@pytest.mark.requirement("I13.4.20")
def test_a_line_that_begins_with_a_blank_is_a_question(shop: Path) -> None:
    ran = chat(shop, " /etc/hosts: what is it?", model=script(shop, {"text": "a file"}))
    assert (ran.code, ran.out) == (0, "a file\n")


@pytest.mark.requirement("I13.4.21")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("x", "no provider 'x'"),
        ("openia/gpt", "did you mean 'openai'?"),
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("scripted/none.yaml", "none.yaml cannot be read: No such file or directory;"),
        ("offline/keyword please", "/model takes one PROVIDER/MODEL"),
    ],
)
def test_a_model_that_cannot_answer_is_refused_with_the_reason(
    shop: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = chat(shop, f"/model {wrong}", model="offline/keyword")
    assert ran.code != 0 and said in ran.err


@pytest.mark.requirement("I13.4.21")
def test_a_model_that_its_provider_does_not_list_is_named_and_taken_only_when_that_is_said(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = Sent({"object": "list", "data": [{"id": "gpt-9", "object": "model"}]})
    with FakeProvider(anything, [listed, listed, Sent(wires("openai").answer("here"))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        refused = chat(shop, "/model openai/gpt-0", model="offline/keyword")
        taken = chat(shop, "/model openai/gpt-0 anyway", "/model openai/gpt-9", model="offline/keyword")
    assert "openai lists no model 'gpt-0' (did you mean 'gpt-9'?); the model stays as it was" in refused.err
    assert "openai/gpt-0 answers from here on" in taken.err
    assert "openai/gpt-9 answers from here on" in taken.err


@pytest.mark.requirement("I13.4.22")
def test_retry_asks_again_without_the_last_answer_which_the_log_keeps(shop: Path) -> None:
    model = script(shop, CALL, {"text": "41."}, STOCK, {"text": "three"}, CALL, {"text": "42."})
    other = script(shop, {"text": "By the other."}, name="other.yaml")
    lines = ("six times seven?", "and apples?", "/retry", f"/retry {other}")
    ran = chat(shop, *lines, model=model, options=("--save", "talk.json"))
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == ["41.", "three", "42.", "By the other."]
    assert "what its calls did stays done" in ran.err
    messages = kept(shop).messages
    assert [type(each) for each in messages] == [User, Assistant, ToolResults, Assistant, User, Assistant]
    assert messages[4:] == [User("and apples?"), messages[5]]
    [log] = (shop / ".toolspan" / "conversations").glob("*.jsonl")
    assert '"three"' in log.read_text() and '"42."' in log.read_text()
    notes = [json.loads(line).get("note", {}).get("kind") for line in log.read_text().splitlines()]
    assert notes.count("retry") == 2


@pytest.mark.requirement("I13.4.22")
def test_an_answer_whose_retry_fails_is_there_again(shop: Path) -> None:
    model = script(shop, {"text": "one"}, {"error": {"message": "overloaded"}})
    ran = chat(shop, "first", "/retry", model=model, options=("--save", "talk.json"))
    assert ran.code == 1 and "overloaded" in ran.err
    assert [type(each) for each in kept(shop).messages] == [User, Assistant]
    assert chat(shop, "/retry", model="offline/keyword").code == 2  # nothing was asked


@pytest.mark.requirement("I13.4.23")
def test_tools_that_are_off_are_off_in_this_conversation_also_when_it_is_resumed(shop: Path) -> None:
    save = ("--save", "talk.json")
    model = script(shop, STOCK, {"text": "three"}, STOCK, {"text": "I may not look."})
    ran = chat(shop, "apples?", "/tools off st*", "/tools", "again?", model=model, options=save)
    assert "off in this conversation: stock" in ran.err and "shop: calculate, stock (off)" in ran.err
    last = kept(shop).messages[-2]
    assert isinstance(last, ToolResults)
    assert last.outcomes[0].result["error_code"] == "tool_not_allowed"
    model = script(shop, STOCK, {"text": "still not"}, STOCK, {"text": "three again"})
    resume = ("--resume", "talk.json", *save)
    ran = chat(shop, "now?", "/tools on stock", "now?", "/tools off nix", model=model, options=resume)
    assert ran.out.splitlines() == ["still not", "three again"]
    assert "'nix' is the name of no tool (known: calculate, stock)" in ran.err
    results = [each for each in kept(shop).messages if isinstance(each, ToolResults)]
    assert [each.outcomes[0].result["success"] for each in results] == [True, False, False, True]


@pytest.mark.requirement("I13.4.24")
def test_usage_and_limits_are_shown_by_model_and_set_for_the_chat(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = script(shop, CALL, {"text": "42."})
    with FakeProvider(anything, [Sent(wires("openai").answer("yes"))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        lines = ("6*7?", "/model openai/gpt-5 anyway", "sure?", "/usage", "/limits calls=1 iterations=9")
        ran = chat(shop, *lines, "/limits calls=off conversation.usd=2", "/limits x=1", model=first)
    assert f"{first}: 2 requests" in ran.err and "openai/gpt-5: 1 request, " in ran.err
    assert "1 tool call" in ran.err
    assert "a question: calls 1, 9 iterations with tools" in ran.err
    assert "a question: no limit of calls, tokens, usd or seconds, 9 iterations" in ran.err
    assert "the conversation: usd 2 (used: 1 calls" in ran.err
    assert "/limits: 'x=1' must be NAME=NUMBER" in ran.err


@pytest.mark.requirement("I13.4.25")
def test_a_system_prompt_holds_for_the_conversation_also_when_it_is_resumed(shop: Path) -> None:
    save = ("--save", "talk.json")
    model = script(shop, {"text": "one"}, {"text": "two"})
    chat(shop, "first", "/system Be brief.", "second", model=model, options=save)
    ran = chat(
        shop,
        "/system",
        "third",
        model=script(shop, {"text": "three"}),
        options=("--resume", "talk.json", *save),
    )
    assert "system prompt: Be brief." in ran.err
    told = [each.text for each in kept(shop).messages if isinstance(each, User)]
    assert [("Be brief." in text) for text in told] == [False, True, False, False]


SERVER = """
import os, sys
for name in ("dead", "dying"):  # at the discovery, and at the start the old way
    if os.path.exists(name):
        os.remove(name)
        sys.exit("the disk is full")
from toolspan_server.cli.main import main
main(["--config", "other.yaml"])
"""
OTHER = """
name: other
tools:
  registry:
    - {name: weather, description: The weather, implementation: {type: mock, response: {sky: blue}}}
"""


@pytest.mark.long
@pytest.mark.requirement("I13.4.26")
def test_a_server_that_is_gone_is_named_and_started_again_and_its_tools_are_used(shop: Path) -> None:
    (shop / "server.py").write_text(SERVER)
    (shop / "other.yaml").write_text(OTHER)
    servers = {"far": {"command": sys.executable, "args": ["server.py"], "cwd": str(shop)}}
    (shop / "mine.yaml").write_text(CONFIG + yaml.safe_dump({"mcpServers": servers}))
    for name in ("dead", "dying"):
        (shop / name).touch()
    weather = {"calls": [{"tool": "weather", "arguments": {}}]}
    model = script(shop, STOCK, {"text": "three"}, weather, {"text": "blue"})
    lines = ("apples?", "/servers", "/servers restart far", "/servers", "sky?", "/servers restart nix")
    options = ("-c", str(shop / "mine.yaml"), "--save", "talk.json")
    ran = chat(shop, *lines, model=model, options=options)
    assert "far: gone: " in ran.err and "the disk is full" in ran.err
    assert "far: 1 tool\n" in ran.err and "there is no server 'nix' (known: far, shop)" in ran.err
    assert ran.out.splitlines() == ["three", "blue"]
    results = [each for each in kept(shop).messages if isinstance(each, ToolResults)]
    assert [each.outcomes[0].result["success"] for each in results] == [True, True]


@pytest.mark.requirement("I13.4.26")
def test_no_server_is_added_where_nobody_can_be_asked(shop: Path) -> None:
    ran = chat(shop, "/servers add npx some-server", model="offline/keyword")
    assert ran.code == 2 and "nobody can be asked here: pass --server 'npx some-server'" in ran.err


@pytest.mark.requirement("I13.4.27")
def test_tools_are_approved_for_the_chat_and_presets_prompts_and_resources_listed(shop: Path) -> None:
    lines = ("/approve st*", "/approve off st*", "/approve always", "/presets", "/prompts", "/resources")
    ran = chat(shop, *lines, "/approve nix", model="offline/keyword")
    assert "without asking in this chat: st*" in ran.err
    assert "always: ask about every call" in ran.err and "there are no presets yet" in ran.err
    assert "no server has a prompt" in ran.err and "no server has a resource" in ran.err
    assert ran.code == 2 and "'nix' is the name of no tool" in ran.err


@pytest.mark.requirement("I13.4.27")
def test_a_preset_is_used_from_the_middle_of_a_chat(shop: Path) -> None:
    made = ("presets", "create", "short", "--instructions", "Be short.", "--tool", "calculator")
    assert toolspan(*made, cwd=shop).code == 0
    model = script(shop, STOCK, {"text": "three"}, STOCK, {"text": "no"})
    lines = ("apples?", "/presets short", "apples?", "/presets off", "/system", "/presets long")
    ran = chat(shop, *lines, model=model, options=("--save", "talk.json"))
    assert "the preset short is used from here on" in ran.err and ran.out.splitlines() == ["three", "no"]
    results = [each for each in kept(shop).messages if isinstance(each, ToolResults)]
    assert [each.outcomes[0].result["success"] for each in results] == [True, False]
    assert ran.code == 2 and "long" in ran.err


@pytest.mark.requirement("I13.4.28")
def test_clear_leaves_only_what_is_saved_and_says_where_it_is(shop: Path) -> None:
    model = script(shop, {"text": "one"}, {"text": "two"})
    ran = chat(shop, "first", "/save", "/clear", "second", model=model)
    assert ran.code == 0 and "the conversation is kept as " in ran.err
    assert "a new conversation starts; /resume " in ran.err
    ran = chat(shop, "first", "/save", "/clear", model=model, options=("--no-save",))
    assert "the conversation is not kept: /save FILE keeps it" in ran.err
    assert ran.code == 2 and "this conversation is not saved: /save FILE keeps it, then /clear" in ran.err


@pytest.mark.requirement("I13.4.61")
@pytest.mark.parametrize("left", ["/clear", "/fork 1"])
def test_no_other_conversation_is_written_over_the_one_in_a_file(shop: Path, left: str) -> None:
    model = script(shop, {"text": "one"}, {"text": "two"}, {"text": "three"})
    options = ("--no-save", "--save", "talk.json")
    ran = chat(shop, "first", "second", left, "third", "/save other.json", model=model, options=options)
    assert ran.code == 0 and "talk.json stays as it is; /save FILE keeps what follows" in ran.err
    assert asked(kept(shop)) == ["first", "second"]
    other = asked(Conversation.load(shop / "other.json"))
    assert other == (["third"] if left == "/clear" else ["first", "third"])


@pytest.mark.requirement("I13.4.61")
def test_a_conversation_that_is_resumed_is_not_written_over_the_one_in_a_file(shop: Path) -> None:
    model = script(shop, {"text": "one"}, {"text": "two"})
    before = chat(shop, "first", model=model).err.rpartition("--conversation ")[2][:12]
    ran = chat(shop, "second", f"/resume {before}", "third", model=model, options=("--save", "talk.json"))
    assert ran.code == 0 and "talk.json stays as it is" in ran.err
    assert asked(kept(shop)) == ["second"]


def asked(conversation: Conversation) -> list[str]:
    return [each.text for each in conversation.messages if isinstance(each, User)]


@pytest.mark.requirement("I13.4.60")
@pytest.mark.parametrize("command", ["clear", "compact", "history", "quit", "usage", "todos"])
def test_a_command_that_takes_nothing_says_so_and_does_nothing(shop: Path, command: str) -> None:
    model = script(shop, {"text": "one"})
    ran = chat(shop, "first", f"/{command} now", model=model)
    assert ran.code == 2 and f"/{command} takes nothing after it, as 'now'" in ran.err


@pytest.mark.long
@pytest.mark.requirement("I13.4.34")
def test_resume_says_what_it_restored_and_goes_on_saving_where_it_was(shop: Path) -> None:
    first = script(shop, CALL, {"text": "42."}, {"text": "two"})
    chat(shop, "six times seven?", "/tools off stock", "again?", model=first, options=("--save", "talk.json"))
    resume = ("--resume", "talk.json")
    ran = chat(shop, "more?", model=script(shop, {"text": "three"}, name="other.yaml"), options=resume)
    assert "“six times seven?”: 2 questions, last answered by scripted/" in ran.err
    assert "script.yaml, on 20" in ran.err and "tools off stock" in ran.err
    assert "the conversation is kept in talk.json and as " in ran.err
    assert len(kept(shop).messages) == 8
    ran = chat(shop, "/usage", model="offline/keyword", options=("--continue",))
    assert "“six times seven?”: 3 questions, last answered by scripted/" in ran.err
    assert "other.yaml: 1 request," in ran.err
    ran = chat(shop, "no", model=script(shop, {"text": "unsaved"}), options=(*resume, "--no-save"))
    assert ran.out == "unsaved\n" and len(kept(shop).messages) == 8


@pytest.mark.long
@pytest.mark.requirement("I13.4.35")
def test_files_that_are_named_go_along_and_what_is_outside_is_asked_about(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "my notes.md").write_text("Buy milk.")
    (shop / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    (shop / "deep").mkdir()
    (shop.parent / "secret.txt").write_text("no")
    with FakeProvider(anything, [Sent(wires("openai").answer("seen"))] * 2) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        line = 'What is in @"my notes.md", @cat.png, @no.txt, a@cat.png and @you?'
        ran = chat(shop, line, model="openai/gpt-5")
        outside = chat(shop, "See @../secret.txt", model="openai/gpt-5")
        folder = chat(shop, "See @deep", model="openai/gpt-5")
    assert (ran.code, ran.out) == (0, "seen\n")
    assert "attached: my notes.md, cat.png" in ran.err and "@no.txt, is no file in " in ran.err
    assert "you? is no file" not in ran.err
    [message] = [each for each in fake.received[0].body["messages"] if each["role"] == "user"]
    assert "Buy milk." in json.dumps(message) and "image/png" in json.dumps(message)
    assert outside.code == 2 and "nobody can be asked here: pass --workspace DIR" in outside.err
    assert folder.code == 2 and "@deep is a folder: name a file in it" in folder.err
    assert len(fake.received) == 1


@pytest.mark.requirement("I13.4.36")
def test_commands_work_in_the_middle_of_a_talk_with_calls_that_another_wire_goes_on_with(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = script(shop, CALL, {"text": "42."}, STOCK, {"text": "three"})
    with FakeProvider(anything, [Sent(wires("anthropic").answer("by another"))] * 3) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        lines = (
            "6*7?",
            "apples?",
            "/tools off stock",
            "/model anthropic/claude-x anyway",
            "/system Be brief.",
        )
        more = ("sure?", "/retry", "/fork 1", "and now?", "/history", "/export markdown talk.md", "/usage")
        ran = chat(shop, *lines, *more, model=first)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == ["42.", "three", "by another", "by another", "by another"]
    again, forked = fake.received[1].body["messages"], fake.received[2].body["messages"]
    assert [each["role"] for each in fake.received[0].body["messages"]] == [each["role"] for each in again]
    assert "by another" not in json.dumps(again) and "tool_result" in json.dumps(again)
    assert "apples?" not in json.dumps(forked) and "and now?" in json.dumps(forked)
    assert "Be brief." in json.dumps(fake.received[2].body["system"])
    assert "and now?" in (shop / "talk.md").read_text()


@pytest.mark.requirement("I13.4.37")
def test_the_page_of_the_chat_has_every_command_as_it_is_written() -> None:
    page = (Path(__file__).parents[4] / "docs/how-to/chat.md").read_text().replace("\\|", "|")
    listed = [command for group in GROUPS for command in commands(group)]
    assert [command.name for command in listed if f"| `{command.written}` |" not in page] == []
    assert page.count("| `/") == len(listed)
