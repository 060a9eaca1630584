"""``@server:uri`` and ``/server:prompt`` in ask and chat, and what Tab completes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from tests.support.asking import heard
from tests.support.cli import toolspan_process
from tests.support.mcp_peers import talker
from tests.support.waiting import BOUND_S
from toolspan_bridge import Toolbox, UsageError
from toolspan_bridge.cli.asking.options import AskOptions
from toolspan_bridge.cli.chat.chat import Chat
from toolspan_bridge.cli.chat.servers import server_host
from toolspan_bridge.cli.host import TERMINAL
from toolspan_bridge.messages import User
from toolspan_bridge.sessions.asker import RoutedAsker
from toolspan_bridge.sessions.chosen.approvals import ApprovalChoice
from toolspan_bridge.sessions.chosen.config import ConfigChoice
from toolspan_bridge.sessions.chosen.limits import LimitChoice
from toolspan_bridge.sessions.kept.saved_conversation import SavedConversation
from toolspan_bridge.sessions.named.followed import follow_again
from toolspan_bridge.sessions.named.mentions import with_mentions
from toolspan_bridge.sessions.session import opened

pytestmark = pytest.mark.long


@asynccontextmanager
async def connected(era: str = "new") -> AsyncGenerator[Toolbox]:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([talker(era)], connect_timeout=BOUND_S) as toolbox:
            yield toolbox


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    command, *arguments = talker("new").command
    servers = {"talker": {"command": command, "args": list(arguments)}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"mcpServers": servers}))
    (tmp_path / "turns.yaml").write_text(yaml.safe_dump({"turns": [{"text": "done"}] * 3}))
    return tmp_path


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.19")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_resource_that_is_named_goes_along_with_its_origin(era: str) -> None:
    async with connected(era) as toolbox:
        asked = await with_mentions("What is in @talker:note:1, and @talker:dot:1?", toolbox)
    assert asked.text.startswith("What is in @talker:note:1, and @talker:dot:1?\n\n")
    assert "[resource note:1 of the server talker]\nBuy milk.\n[end of resource note:1" in asked.text
    assert [(part.type, part.data["mimeType"]) for part in asked.parts] == [("image", "image/png")]


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.19")
async def test_what_is_named_is_bounded_and_what_names_nothing_stays() -> None:
    async with connected() as toolbox:
        long = await with_mentions("@talker:long:1", toolbox)
        plain = await with_mentions("Write to me@talker:note:1 or @nobody:x", toolbox)
        with pytest.raises(UsageError, match="there are note:1, dot:1, long:1, day"):
            await with_mentions("@talker:none:1", toolbox)
    assert len(long.text) < 263_000 and "[cut here: 37,856 more characters]" in long.text
    assert plain.text == "Write to me@talker:note:1 or @nobody:x"


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.19")
async def test_a_prompt_is_the_question_with_what_it_embeds() -> None:
    async with connected() as toolbox:
        asked = await with_mentions("/talker:write 'the sea' tone=dry", toolbox)
        with pytest.raises(UsageError, match="cannot be read"):
            await with_mentions("/talker:write 'the sea", toolbox)
    assert asked.text.startswith('Write about {"topic": "the sea", "tone": "dry"}\n\n[resource note:1')


@pytest.mark.requirement("I12.2.19")
def test_ask_and_chat_send_what_is_named(folder: Path) -> None:
    words = ("-m", "scripted/turns.yaml", "--config", "mine.yaml")
    asked = toolspan_process("ask", "See @talker:note:1", *words, "--no-save", cwd=folder)
    assert (asked.code, asked.out) == (0, "done\n")
    lines = "See @talker:note:1\n/talker:write sea\n"
    chat = toolspan_process("chat", *words, "--save", "talk.json", stdin=lines, cwd=folder)
    assert chat.code == 0
    saved = (folder / "talk.json").read_text()
    assert "Buy milk." in saved and "Write about" in saved
    wrong = toolspan_process("ask", "See @talker:none", *words, "--no-save", cwd=folder)
    assert (wrong.code, "there are note:1" in wrong.err) == (2, True)


CHANGED = "the resource note:1 of the server 'talker' has changed (name it again to have it read again)"


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.81")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_chat_is_told_when_a_resource_changes_and_reads_it_anew_when_it_is_named(era: str) -> None:
    async with connected(era) as toolbox:
        await with_mentions("See @talker:dot:1", toolbox, follow=True)
        first = await with_mentions("See @talker:note:1 and @talker:dot:1", toolbox, follow=True)
        told = json.loads((await heard(toolbox, "told")).value)
        assert told["subscribed"] == ["dot:1", "note:1"]
        await heard(toolbox, "update")
        await heard(toolbox, "told")
        assert toolbox.take_news() == [CHANGED]
        again = await with_mentions("And now? @talker:note:1", toolbox, follow=True)
    assert ("Buy milk." in first.text, "Buy bread." in again.text) == (True, True)


SINCE = "the resource note:1 of the server 'talker' has changed since it was read (name it again to have"


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.90")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_what_a_conversation_named_is_followed_and_compared_when_it_is_resumed(era: str) -> None:
    lines = (
        "See @talker:note:1",
        "And @talker:dot:1, @talker:note:1 @talker:long:1 @nobody:x",
        "Or me@talker:x",
    )
    async with connected(era) as toolbox:
        asked = [await with_mentions(line, toolbox) for line in lines]
    messages = [User(each.text, each.parts) for each in asked]
    messages.append(User("Look\n\n[resource x of the server talker]\n@talker:day:1\n[end of resource x …]"))
    async with connected(era) as toolbox:
        assert await follow_again(messages, toolbox) == []
        told = json.loads((await heard(toolbox, "told")).value)
        assert sorted(told["subscribed"]) == ["dot:1", "long:1", "note:1"]
        await heard(toolbox, "update")
        await heard(toolbox, "told")
        assert toolbox.take_news() == [CHANGED]
        (since,) = await follow_again(messages, toolbox)
        assert since.startswith(SINCE)
        gone = await follow_again([User("@talker:none:1")], toolbox)
        assert gone[0].startswith("the resource none:1 of the server 'talker' is not there any more")


@pytest.mark.requirement("I12.2.90")
def test_a_resumed_chat_says_what_has_changed_before_and_while_it_goes_on(folder: Path) -> None:
    turns = [{"calls": [{"tool": "update", "arguments": {}}]}, {"text": "done"}]
    (folder / "more.yaml").write_text(yaml.safe_dump({"turns": turns}))
    words = ("--config", "mine.yaml", "--save", "talk.json")
    chat = toolspan_process(
        "chat", *words, "-m", "scripted/turns.yaml", stdin="See @talker:note:1\n", cwd=folder
    )
    assert (chat.code, "has changed" in chat.err) == (0, False)
    config = yaml.safe_load((folder / "mine.yaml").read_text())
    config["mcpServers"]["talker"]["env"] = {"TALKER_NOTE": "Buy tea."}
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    resumed = ("--resume", "talk.json", "-m", "scripted/more.yaml", "--approve", "*")
    chat = toolspan_process("chat", *words, *resumed, stdin="Go on\n", cwd=folder)
    assert chat.code == 0, chat.err
    before, _, after = chat.err.partition("update()")
    assert SINCE in before
    assert CHANGED[1:] in after


@pytest.mark.anyio
@pytest.mark.requirement("I12.2.20")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("/hel", {"/help"}),
        ("/tal", {"/talker:"}),
        ("/talker:", {"/talker:write"}),
        ("/talker:write mo", {"monday"}),
        ("/talker:write x t", {"tuesday"}),
        ("see @ta", {"@talker:"}),
        ("see @talker:no", {"@talker:note:1"}),
        ("@talker:d", {"@talker:dot:1", "@talker:day:"}),
        ("@talker:day:t", {"@talker:day:tuesday/x"}),
        ("@nobody:", set()),
        ("plain", set()),
        ("/tools of", {"off"}),
        ("/tools off ro", {"roots"}),
        ("/servers restart t", {"talker"}),
        ("/model offline/k", {"offline/keyword"}),
        ("/model oll", {"ollama/", "ollama-openai/"}),
        ("see @mi", {"@mine.yaml"}),
        ("two\nlines @my", {'@"my notes.md"'}),
        ('see @"my n', {'@"my notes.md"'}),
        ("@de", {"@deep/"}),
        ("@deep/", {"@deep/er.txt"}),
        ("@.h", {"@.hidden"}),
    ],
)
async def test_tab_completes_commands_their_words_files_and_what_the_servers_have(
    folder: Path, typed: str, completed: set[str]
) -> None:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from toolspan_bridge.cli.chat.input.completion import ChatCompleter

    (folder / "my notes.md").touch()
    (folder / ".hidden").touch()
    (folder / "deep").mkdir()
    (folder / "deep" / "er.txt").touch()
    async with (
        opened(ConfigChoice((str(folder / "mine.yaml"),)), TERMINAL) as session,
        RoutedAsker(session) as asker,
        server_host() as host,
    ):
        saved = SavedConversation.opened(None, None, TERMINAL)
        chat = Chat(asker, AskOptions(), saved, ApprovalChoice(), LimitChoice(), {}, host)
        found: list[Any] = [
            each async for each in ChatCompleter(chat).get_completions_async(Document(typed), CompleteEvent())
        ]
    assert {each.text for each in found} == completed


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.requirement("I12.2.20")
def test_tab_completes_at_the_prompt_of_a_chat(folder: Path) -> None:
    from tests.support.terminal import Terminal

    words = ("-m", "scripted/turns.yaml", "--config", "mine.yaml", "--save", "talk.json")
    with Terminal("chat", *words, cwd=folder) as terminal:
        terminal.until("you>")
        terminal.type("see @talker:no\t")
        terminal.until("te:1")
        terminal.type("\r")
        terminal.until("done")
        terminal.until("you>")
        terminal.type("\x04")
        assert terminal.ended() == 0
    assert "Buy milk." in json.dumps(json.loads((folder / "talk.json").read_text()))
