"""Every ask and chat is saved as it happens, and gone on with, whatever ends the program."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan, toolspan_process
from tests.support.disks import tiny_disk
from tests.support.fake_providers import FakeProvider, Received, Sent
from tests.support.provider_rules.openai import check_request
from tests.support.waiting import eventually
from tests.support.wire_peers import wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import Assistant, ToolResults, User

pytestmark = pytest.mark.long

CONFIG = """
name: shop
handlers: [tools.py]
tools:
  default_timeout_ms: 300000
  registry:
    - name: add
      description: Adds.
      annotations: {open_world: false}
      parameters: {type: object, properties: {a: {type: integer}, b: {type: integer}}}
      implementation: {type: builtin, handler: added}
    - name: hang
      description: Never ends.
      parameters: {type: object}
      implementation: {type: builtin, handler: hanging}
"""
HANDLERS = """
import asyncio
from pathlib import Path
from toolspan_server import handler

@handler("added")
def added(arguments, context):
    return {"sum": arguments["a"] + arguments["b"]}

@handler("hanging")
async def hanging(arguments, context):
    Path("hangs").touch()
    await asyncio.Event().wait()
"""
NAMED = ("--config", "toolspan.yaml")
ADD = {"calls": [{"tool": "add", "arguments": {"a": 1, "b": 2}}]}
HANG = {"calls": [{"tool": "hang"}, {"tool": "add", "arguments": {"a": 1, "b": 2}}]}

Script = Callable[..., tuple[str, str]]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "tools.py").write_text(HANDLERS)
    return tmp_path


@pytest.fixture
def model(shop: Path) -> Script:
    """The options of a model that takes the given turns."""

    def made(*turns: dict[str, Any]) -> tuple[str, str]:
        path = shop / f"script-{len(list(shop.iterdir()))}.yaml"
        path.write_text(yaml.safe_dump({"turns": list(turns)}))
        return ("--model", f"scripted/{path}")

    return made


def logs(folder: Path) -> list[Path]:
    return sorted((folder / ".toolspan" / "conversations").glob("*.jsonl"))


def exported(folder: Path, name: str = "latest") -> Conversation:
    ran = toolspan("conversations", "export", name, "--format", "json", *NAMED, cwd=folder)
    assert ran.code == 0, ran.err
    return Conversation.from_json(ran.out.encode())


@pytest.mark.requirement("I12.4.46")
def test_an_ask_is_gone_on_with_by_another_model(shop: Path, model: Script) -> None:
    first = toolspan("ask", "1+2?", "--json", *model(ADD, {"text": "3"}), *NAMED, cwd=shop)
    assert first.json["conversation"] == logs(shop)[0].stem
    again = toolspan("ask", "sure?", "--continue", *model({"text": "yes"}), *NAMED, cwd=shop)
    assert (again.out, again.err) == ("yes\n", "")
    messages = exported(shop).messages
    assert [type(each) for each in messages] == [User, Assistant, ToolResults, Assistant, User, Assistant]
    assert len(logs(shop)) == 1


@pytest.mark.requirement("I12.4.46")
def test_what_the_next_provider_is_sent_holds_what_was_said(
    shop: Path, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolspan("ask", "1+2?", *model(ADD, {"text": "3"}), *NAMED, cwd=shop)
    with FakeProvider(strict, [Sent(wires("openai").answer("yes"))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        ran = toolspan("ask", "sure?", "--continue", "-m", "openai/gpt-4o", *NAMED, cwd=shop)
    assert ran.out == "yes\n"
    sent = fake.received[0].body["messages"]
    assert [each["role"] for each in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]


def strict(received: Received) -> str:
    try:
        check_request(received.body)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.requirement("I13.4.62")
def test_the_command_that_goes_on_with_a_chat_has_its_workspace_and_servers(
    shop: Path, model: Script
) -> None:
    server = shlex.join([sys.executable, "-m", "toolspan_server", "-c", "toolspan.yaml"])
    options = ("--workspace", "my work", "--server", server)
    (shop / "my work").mkdir()
    ran = toolspan("chat", *model({"text": "one"}), *NAMED, *options, cwd=shop, stdin="first\n")
    command = shlex.split(ran.err.rpartition("go on with it by `")[2].rstrip("`\n"))
    assert command[-4:] == [*options]
    again = toolspan(*command[1:], *model({"text": "on"}), cwd=shop, stdin="next\n")
    assert (again.code, again.out) == (0, "on\n")


@pytest.mark.requirement("I12.4.46")
def test_a_chat_says_how_to_go_on_with_it_and_is_gone_on_with_by_the_beginning_of_its_id(
    shop: Path, model: Script
) -> None:
    ran = toolspan("chat", *model({"text": "one"}), *NAMED, cwd=shop, stdin="first\n")
    name = logs(shop)[0].stem
    assert ran.err.endswith(f"toolspan chat --conversation {name[:12]} --config toolspan.yaml`\n")
    for words in (("--conversation", name[:6]), ("--resume", name)):
        again = toolspan("chat", *words, *model({"text": "on"}), *NAMED, cwd=shop, stdin="next\n")
        assert again.out == "on\n"
    texts = [each.text for each in exported(shop).messages if isinstance(each, User)]
    assert texts == ["first", "next", "next"]


@pytest.mark.requirement("I12.4.46")
def test_new_starts_another_conversation_with_a_log_of_its_own(shop: Path, model: Script) -> None:
    turns = model({"text": "one"}, {"text": "two"})
    toolspan("chat", *turns, *NAMED, cwd=shop, stdin="first\n/new\nsecond\n")
    assert len(logs(shop)) == 2
    assert [len(exported(shop, log.stem).messages) for log in logs(shop)] == [2, 2]


@pytest.mark.requirement("I12.4.46")
@pytest.mark.parametrize("refused", ["--no-save", "save: false"])
def test_nothing_is_kept_of_what_is_not_to_be_saved(shop: Path, model: Script, refused: str) -> None:
    words: tuple[str, ...] = ()
    if refused.startswith("--"):
        words = (refused,)
    else:
        (shop / "toolspan.yaml").write_text(CONFIG + f"conversations: {{{refused}}}\n")
    ran = toolspan("ask", "hi", "--json", *words, *model({"text": "hello"}), *NAMED, cwd=shop)
    assert ran.json["content"] == "hello" and "conversation" not in ran.json
    toolspan("chat", *words, *model({"text": "hello"}), *NAMED, cwd=shop, stdin="hi\n")
    assert not (shop / ".toolspan").exists()


@pytest.mark.requirement("I12.4.46")
def test_a_saved_conversation_is_read_but_not_changed_with_no_save(shop: Path, model: Script) -> None:
    toolspan("ask", "one?", *model({"text": "1"}), *NAMED, cwd=shop)
    before = logs(shop)[0].read_bytes()
    ran = toolspan("ask", "two?", "--continue", "--no-save", *model({"text": "2"}), *NAMED, cwd=shop)
    assert (ran.out, logs(shop)[0].read_bytes()) == ("2\n", before)


@pytest.mark.requirement("I12.4.46")
def test_a_file_of_an_earlier_chat_is_gone_on_with_and_saved_like_any_other(
    shop: Path, model: Script
) -> None:
    old = Conversation([User("one?"), Assistant("1")])
    old.save(shop / "old.json")
    for number in (1, 2):
        resumed = ("--resume", "old.json", "--save", "old.json")
        ran = toolspan("chat", *resumed, *model({"text": "on"}), *NAMED, cwd=shop, stdin=f"{number}?\n")
        assert (ran.code, ran.out) == (0, "on\n")
    assert [log.stem for log in logs(shop)] == [old.id]
    assert exported(shop).messages == Conversation.load(shop / "old.json").messages
    toolspan("chat", "--resume", "old.json", *model({"text": "on"}), *NAMED, cwd=shop, stdin="3?\n")
    assert len(exported(shop).messages) == 8


@pytest.mark.requirement("I12.4.46")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", "hi", "--continue"), "no conversation is saved in"),
        (("ask", "hi", "--conversation", "abcd"), "no conversation 'abcd' is in"),
        (("ask", "hi", "--continue", "--conversation", "abcd"), "name two conversations"),
        (("ask", "hi", "--fork"), "--fork copies a conversation: name it"),
        (("chat", "--resume", "abcd", "--continue"), "write one"),
        (("chat", "--resume", "old.json"), "the conversation old.json cannot be read"),
    ],
)
def test_a_conversation_that_is_not_there_is_an_error_that_says_what_to_do(
    shop: Path, words: tuple[str, ...], said: str
) -> None:
    ran = toolspan(*words, *NAMED, cwd=shop, stdin="hi\n")
    assert ran.code == 2 and said in ran.err


@pytest.mark.requirement("I12.4.41", "I12.4.46")
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_a_chat_that_is_killed_within_a_call_is_gone_on_with_by_another_model(
    shop: Path, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "toolspan_bridge", "chat", *model(HANG), *NAMED]
    with subprocess.Popen(command, cwd=shop, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as chat:
        assert chat.stdin is not None
        chat.stdin.write(b"please hang\n")
        chat.stdin.flush()
        assert eventually(lambda: (shop / "hangs").exists() and b'"sum":3' in logs(shop)[0].read_bytes())
        os.kill(chat.pid, signal.SIGKILL)
    with FakeProvider(strict, [Sent(wires("openai").answer("It was interrupted."))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        ran = toolspan("ask", "well?", "--continue", "-m", "openai/gpt-4o", *NAMED, cwd=shop)
    assert ran.out == "It was interrupted.\n"
    sent = fake.received[0].body["messages"]
    roles = [each["role"] for each in sent]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert "please hang" in json.dumps(sent[1]) and "interrupted" in sent[3]["content"]
    assert json.loads(sent[4]["content"]) == {"sum": 3}


@pytest.mark.long
@pytest.mark.requirement("I12.4.44")
@pytest.mark.skipif(sys.platform == "win32", reason="mounts are Linux")
def test_on_a_full_disk_the_answer_comes_and_what_was_saved_stays(shop: Path, model: Script) -> None:
    state = shop / ".toolspan"
    state.mkdir()
    prefix = tiny_disk(state)
    if prefix is None:
        pytest.skip("this machine mounts no disk for a test, as Linux does for root")
    toolspan_ = f"{sys.executable} -m toolspan_bridge"
    turns = model({"text": "one"}, {"text": "x" * 400_000}, {"text": "three"})
    script = (
        f"printf 'first\\nsecond\\nthird\\n' | {toolspan_} chat {' '.join(turns)} {' '.join(NAMED)};"
        f"{toolspan_} conversations export latest --format json {' '.join(NAMED)} > whole.json"
    )
    done = subprocess.run(
        [*prefix, "sh", "-c", script], cwd=shop, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == f"one\n{'x' * 400_000}\nthree\n", done.stderr
    assert done.stderr.count("the conversation cannot be saved any further: No space left on device") == 1
    kept = Conversation.load(shop / "whole.json").messages
    assert kept[:2] == [User("first"), Assistant("one")]


@pytest.mark.requirement("I12.4.44")
def test_where_nothing_can_be_written_that_is_said_once_and_the_answers_come(
    shop: Path, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / ".toolspan").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(shop / ".toolspan"))
    turns = model({"text": "one"}, {"text": "two"})
    ran = toolspan("chat", *turns, *NAMED, cwd=shop, stdin="first\nsecond\n")
    assert (ran.code, ran.out) == (0, "one\ntwo\n")
    assert ran.err.count("the conversation cannot be saved any further") == 1
    assert ran.err.count("\n") == 1


@pytest.mark.requirement("I12.4.47")
def test_without_a_config_conversations_are_kept_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "empty"
    folder.mkdir()
    assert toolspan("ask", "hi", cwd=folder).code == 0
    assert list(folder.iterdir()) == []
    assert len(list((tmp_path / "state" / "toolspan" / "conversations").iterdir())) == 1
    listed = toolspan("conversations", "list", "--json", cwd=folder).json["conversations"]
    assert [each["title"] for each in listed] == ["hi"]


@pytest.mark.requirement("I12.4.47")
def test_a_config_that_was_only_found_leads_no_conversation_out_of_its_folder(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / "toolspan.yaml").write_text("state_dir: ../mine\n")
    for words in (("ask", "hi"), ("conversations", "list"), ("conversations", "prune")):
        ran = toolspan(*words, cwd=folder)
        assert ran.code == 0 and "outside of the folder" in ran.err and "--trust" in ran.err
    assert not (tmp_path / "mine").exists()
    assert len(logs(folder)) == 1
    assert toolspan("ask", "hi", *NAMED, cwd=folder).code == 0
    assert (tmp_path / "mine").exists()


@pytest.mark.requirement("I12.4.48")
def test_what_is_too_old_is_removed_at_the_end_and_said(shop: Path, model: Script) -> None:
    (shop / "toolspan.yaml").write_text(CONFIG + "conversations: {keep_days: 30}\n")
    for text in ("old", "new"):
        toolspan("ask", text, *model({"text": "1"}), *NAMED, cwd=shop)
    old = next(log for log in logs(shop) if b'"title":"old"' in log.read_bytes())
    os.utime(old, (0, 0))
    ran = toolspan("ask", "newer", *model({"text": "1"}), *NAMED, cwd=shop)
    assert ran.err == (
        "toolspan: 1 old conversation was removed (conversations.keep_days is 30, keep_bytes 1073741824)\n"
    )
    assert not old.exists() and len(logs(shop)) == 2


@pytest.mark.requirement("I12.4.48")
def test_of_more_than_is_kept_the_oldest_go_and_never_the_one_just_saved(shop: Path, model: Script) -> None:
    (shop / "toolspan.yaml").write_text(CONFIG + "conversations: {keep_bytes: 65536, keep_days: null}\n")
    for number in (1, 2, 3):
        toolspan("ask", f"{number}?", *model({"text": "x" * 30_000}), *NAMED, cwd=shop)
        for log in logs(shop):
            os.utime(log, (0, int(title_of(log)[0])))
    titles = sorted(title_of(log) for log in logs(shop))
    assert titles == ["2?", "3?"]
    toolspan("ask", "4?", *model({"text": "x" * 90_000}), *NAMED, cwd=shop)
    assert [title_of(log) for log in logs(shop)] == ["4?"]


def title_of(log: Path) -> str:
    return str(json.loads(log.read_bytes().splitlines()[0])["title"])


@pytest.mark.requirement("I12.4.42")
def test_a_conversation_that_is_in_use_is_not_gone_on_with_but_copied(shop: Path, model: Script) -> None:
    command = [sys.executable, "-m", "toolspan_bridge", "chat", *model({"text": "one"}), *NAMED]
    with subprocess.Popen(command, cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as chat:
        assert chat.stdin is not None and chat.stdout is not None
        chat.stdin.write(b"first\n")
        chat.stdin.flush()
        assert chat.stdout.readline() == b"one\n"
        busy = toolspan_process("ask", "second", "--continue", *model({"text": "2"}), *NAMED, cwd=shop)
        assert busy.code == 1
        assert f"is in use by process {chat.pid} (since " in busy.err and "--fork" in busy.err
        ran = toolspan("ask", "second", "--continue", "--fork", *model({"text": "2"}), *NAMED, cwd=shop)
        assert ran.out == "2\n"
        chat.stdin.close()
    assert [len(exported(shop, log.stem).messages) for log in logs(shop)] in ([2, 4], [4, 2])
