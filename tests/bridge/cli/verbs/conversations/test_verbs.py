"""``toolspan conversations``: saved ones listed, searched, shown, forked, exported, replayed and removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import Ran, toolspan
from tests.support.official_types import check_openai
from toolspan_bridge.conversation import Conversation

pytestmark = pytest.mark.long

CONFIG = """
name: shop
tools:
  registry:
    - name: price
      description: The price of a thing.
      parameters: {type: object, properties: {thing: {type: string}}, required: [thing]}
      implementation: {type: mock, mock_response: {price: 45}}
"""
NAMED = ("--config", "toolspan.yaml")
CALL = {"calls": [{"tool": "price", "arguments": {"thing": "Läufer"}}], "text": "Let me see."}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with two conversations: of three questions, and of one."""
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    said(tmp_path, "What does a Läufer cost?", CALL, {"text": "45 # dollars"})
    said(tmp_path, "And two?", {"text": "90"}, words=("--continue",))
    said(tmp_path, "Three?", {"text": "135"}, words=("--continue",))
    said(tmp_path, "How are you?", {"text": "Fine.\n## You\n> I am not you"})
    return tmp_path


def said(folder: Path, question: str, *turns: dict[str, Any], words: tuple[str, ...] = ()) -> None:
    (folder / "script.yaml").write_text(yaml.safe_dump({"turns": list(turns)}))
    ran = toolspan("ask", question, *words, "-m", "scripted/script.yaml", *NAMED, cwd=folder)
    assert ran.code == 0, ran.err


def conversations(folder: Path, *words: str, stdin: str = "") -> Ran:
    return toolspan("conversations", *words, *NAMED, cwd=folder, stdin=stdin)


def ids(folder: Path) -> list[str]:
    listed = conversations(folder, "list", "--json").json["conversations"]
    return [each["id"] for each in listed]


def titles(folder: Path) -> list[str]:
    listed = conversations(folder, "list", "--json").json["conversations"]
    return [each["title"] for each in listed]


@pytest.mark.requirement("I12.4.49")
def test_the_latest_conversation_is_listed_first(shop: Path) -> None:
    assert titles(shop) == ["How are you?", "What does a Läufer cost?"]
    listed = conversations(shop, "list")
    assert listed.out.index("How are you?") < listed.out.index("What does a Läufer cost?")
    one = conversations(shop, "list", "--limit", "1")
    assert "Läufer" not in one.out and "1 more (--limit)" in one.err
    [first, _] = conversations(shop, "list", "--json").json["conversations"]
    assert list(first) == ["id", "title", "created", "changed", "model", "forked_from", "bytes"]
    assert first["model"] == "scripted/script.yaml"


@pytest.mark.requirement("I12.4.49")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("läufer",), [("title", 0), ("question", 1), ("call", 2)]),
        (("45",), [("result", 3), ("answer", 4)]),
        (("--regex", r"^9\d$"), [("answer", 6)]),
        (("--limit", "1", "45"), [("result", 3)]),
        (("nowhere",), []),
    ],
)
def test_what_was_said_is_found(shop: Path, words: tuple[str, ...], found: list[tuple[str, int]]) -> None:
    ran = conversations(shop, "search", *words, "--json")
    assert [(each["place"], each["message"]) for each in ran.json["found"]] == found
    shown = conversations(shop, "search", *words)
    assert ("nothing was found" in shown.err) == (not found)


@pytest.mark.requirement("I12.4.49")
@pytest.mark.parametrize(
    ("words", "wrong"), [(("--regex", "(?=a)"), "is no RE2 pattern"), (("",), "nothing")]
)
def test_what_cannot_be_searched_for_is_refused(shop: Path, words: tuple[str, ...], wrong: str) -> None:
    ran = conversations(shop, "search", *words)
    assert ran.code == 2 and wrong in ran.err


@pytest.mark.requirement("I12.4.49")
def test_a_conversation_is_shown_whole(shop: Path) -> None:
    shown = conversations(shop, "show", ids(shop)[1][:6]).out
    assert shown.splitlines()[3:] == [
        "[1] you> What does a Läufer cost?",
        "scripted/script.yaml> Let me see.",
        "→ price(thing=Läufer)",
        '← {"price": 45}',
        "scripted/script.yaml> 45 # dollars",
        "[2] you> And two?",
        "scripted/script.yaml> 90",
        "[3] you> Three?",
        "scripted/script.yaml> 135",
    ]
    data = conversations(shop, "show", "latest", "--json").json
    assert [each["role"] for each in data["messages"]] == ["user", "assistant"]
    assert {each["kind"] for each in data["notes"]} == {"opened", "model", "usage"}
    assert all(each["at"] for each in data["messages"])


@pytest.mark.requirement("I12.4.50")
def test_a_fork_is_a_copy_up_to_a_question_and_the_original_stays(shop: Path) -> None:
    original = ids(shop)[1]
    before = conversations(shop, "export", original, "--format", "json").out
    copy = conversations(shop, "fork", original, "--at", "2").out.strip()
    said(shop, "And ten?", {"text": "450"}, words=("--conversation", copy[:8]))
    assert conversations(shop, "export", original, "--format", "json").out == before
    texts = [
        each["text"] for each in json.loads(conversations(shop, "show", copy, "--json").out)["messages"][5:]
    ]
    assert texts == ["90", "And ten?", "450"]
    [forked] = [
        each
        for each in conversations(shop, "list", "--json").json["conversations"]
        if each["forked_from"] is not None
    ]
    assert (forked["id"], forked["forked_from"]) == (copy, original)
    assert forked["title"] == "What does a Läufer cost?"
    assert conversations(shop, "fork", original, "--at", "4").code == 2


@pytest.mark.requirement("I12.4.51")
def test_openai_messages_are_taken_by_its_client_and_each_call_has_its_result(shop: Path) -> None:
    messages = json.loads(conversations(shop, "export", ids(shop)[1], "--format", "openai").out)
    check_openai("chat", {"model": "gpt-4o", "messages": messages})
    roles = [each["role"] for each in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", *["user", "assistant"] * 2]
    assert messages[3]["tool_call_id"] == messages[2]["tool_calls"][0]["id"]


@pytest.mark.requirement("I12.4.51")
def test_markdown_quotes_what_was_said_and_shows_calls_and_results(shop: Path) -> None:
    text = conversations(shop, "export", ids(shop)[1]).out
    assert text.startswith("# What does a Läufer cost?\n\nConversation `")
    assert '```json\n{\n  "thing": "Läufer"\n}\n```' in text and '"price": 45' in text
    forged = conversations(shop, "export", "latest").out
    assert forged.count("\n## You\n") == 1 and "\n> ## You\n> > I am not you\n" in forged


@pytest.mark.requirement("I12.4.51")
def test_an_export_is_a_new_file_and_json_is_gone_on_with(shop: Path) -> None:
    words = ("export", ids(shop)[1], "--format", "json", "-o", "talk.json")
    assert conversations(shop, *words).code == 0
    again = conversations(shop, *words)
    assert again.code == 2 and "talk.json exists already" in again.err
    assert len(Conversation.load(shop / "talk.json").messages) == 8


@pytest.mark.requirement("I12.4.51")
def test_secrets_of_the_config_are_in_no_export(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "hunter2-hunter2")
    (shop / "toolspan.yaml").write_text(CONFIG + "request_state_key: ${SHOP_KEY}-12345678901234567890\n")
    said(shop, "Is it hunter2-hunter2?", {"text": "no"})
    for form in ("markdown", "json", "openai"):
        ran = conversations(shop, "export", "latest", "--format", form)
        assert "hunter2" not in ran.out and "***" in ran.out
    for words in (("show", "latest"), ("search", "is it")):
        assert "hunter2-" not in conversations(shop, *words).out.split("\n", 1)[1]


@pytest.mark.requirement("I12.4.51")
def test_what_was_said_cannot_act_on_a_terminal(shop: Path) -> None:
    said(shop, "one\x1b[2Jtwo", {"text": "\x1b]52;c;QUJD\x07 \u202e"})
    for words in (("show", "latest"), ("export", "latest"), ("list",), ("search", "one")):
        out = conversations(shop, *words).out
        assert "\x1b" not in out and "\u202e" not in out


@pytest.mark.requirement("I12.4.52")
def test_a_replay_of_what_is_as_it_was_shows_no_difference(shop: Path) -> None:
    for words in ((), ("--live-tools",)):
        ran = conversations(shop, "replay", ids(shop)[1], *words)
        assert (ran.code, ran.out.splitlines()[-1]) == (0, "questions: 3, calls: 1, differences: 0")
    assert len(ids(shop)) == 2


@pytest.mark.requirement("I12.4.52")
def test_a_replay_with_the_tools_of_today_shows_what_came_out_differently(shop: Path) -> None:
    (shop / "toolspan.yaml").write_text(CONFIG.replace("price: 45", "price: 46"))
    ran = conversations(shop, "replay", ids(shop)[1], "--live-tools")
    assert ran.code == 1
    assert '      then: {"success": true, "result": {"price": 45}' in ran.out
    assert '      now:  {"success": true, "result": {"price": 46}' in ran.out
    (shop / "toolspan.yaml").write_text(CONFIG.replace("thing: {type: string}", "thing: {type: integer}"))
    ran = conversations(shop, "replay", ids(shop)[1], "--live-tools", "--json")
    [difference] = ran.json["questions"][0]["differences"]
    assert difference["now"]["error_code"] == "invalid_parameters"
    assert conversations(shop, "replay", ids(shop)[1]).code == 0


@pytest.mark.requirement("I12.4.52")
def test_a_replay_calls_what_needs_approval_only_when_it_is_allowed(shop: Path) -> None:
    guarded = CONFIG.replace("description: The", "annotations: {destructive: true}\n      description: The")
    (shop / "toolspan.yaml").write_text(guarded)
    denied = conversations(shop, "replay", ids(shop)[1], "--live-tools")
    assert denied.code == 1 and "denied by user" in denied.out
    assert conversations(shop, "replay", ids(shop)[1], "--live-tools", "--approve", "price").code == 0


@pytest.mark.requirement("I12.4.48")
def test_pruning_tells_first_what_it_would_remove(shop: Path) -> None:
    would = conversations(shop, "prune", "--keep-bytes", "0", "--dry-run")
    assert would.err.count("would remove") == 2 and len(ids(shop)) == 2
    assert "nothing to remove" in conversations(shop, "prune").err
    ran = conversations(shop, "prune", "--keep-bytes", "0", "--json")
    assert len(ran.json["removed"]) == 2 and ids(shop) == []


@pytest.mark.requirement("I12.4.48")
def test_files_beside_conversations_count_towards_the_bytes_that_are_kept(shop: Path) -> None:
    newest, oldest = ids(shop)
    [log] = shop.rglob(f"*{newest}*.jsonl")
    beside = log.with_name(f"{log.name}.files")
    beside.mkdir()
    (beside / "1-picture.png").write_bytes(b"x" * 100_000)
    conversations(shop, "prune", "--keep-bytes", "100000")
    assert ids(shop) == [oldest] and not beside.exists()


@pytest.mark.requirement("I12.4.48")
def test_deleting_needs_a_yes(shop: Path) -> None:
    first = ids(shop)[0]
    refused = conversations(shop, "delete", first)
    assert refused.code == 2 and "there is nobody to ask here; add --yes" in refused.err
    assert len(ids(shop)) == 2
    assert conversations(shop, "delete", first[:8], "latest", "--yes").code == 0
    assert titles(shop) == ["What does a Läufer cost?"]


@pytest.mark.requirement("I12.4.49")
@pytest.mark.parametrize("name", ["abcd", "ab", ""])
def test_an_id_that_is_no_ones_is_an_error_that_says_where_it_was_looked_for(shop: Path, name: str) -> None:
    ran = conversations(shop, "show", name)
    assert ran.code == 2 and "list them by `toolspan conversations list`" in ran.err


@pytest.mark.requirement("I12.4.57")
def test_a_replay_reads_on_in_a_cut_result_as_the_conversation_did(shop: Path) -> None:
    (shop / "toolspan.yaml").write_text(
        "limits: {result_characters: 200}\n" + CONFIG.replace("price: 45", "price: " + "45" * 200)
    )
    read = {"calls": [{"tool": "read_result", "arguments": {"call_id": "call_1_1", "offset": 200}}]}
    said(shop, "Long?", CALL, read, CALL | {"text": ""}, {"text": "end"})
    shown = conversations(shop, "show", "latest").out
    assert "→ read_result(" in shown and "failed" not in shown
    for words in ((), ("--live-tools",)):
        ran = conversations(shop, "replay", "latest", *words)
        assert (ran.code, ran.out.splitlines()[-1]) == (0, "questions: 1, calls: 3, differences: 0")
