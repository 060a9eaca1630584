"""Our own server is told which conversation a call belongs to; no other server is."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge import Conversation, Question, ServerSpec, Toolbox, answer, own_server
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_server import load_config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.4.1")]

_HANDLER = """
from toolspan_server import handler

@handler("named")
def named(arguments, context):
    return {"conversation": context.meta.get("dev.toolspan/conversation")}
"""
_TOOLS = """
version: 1
name: own
handlers: [named.py]
tools:
  registry:
    - name: which
      description: Says which conversation it is called in.
      annotations: {read_only: true}
      parameters: {type: object, properties: {n: {type: integer}}}
      implementation: {type: builtin, handler: named}
"""


async def conversations(server: ServerSpec, *talks: Conversation) -> list[object]:
    """What the tool is told in two questions of each of ``talks``."""
    seen: list[object] = []
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([server], connect_timeout=BOUND_S) as toolbox:
            assert not toolbox.failures
            for number, talk in enumerate([*talks, *talks]):
                turns = [{"calls": [{"tool": "which", "arguments": {"n": number}}]}, {"text": "done"}]
                answered = await answer(Question("?", "m"), Scripted(turns), toolbox, talk)
                seen.append(answered.tool_calls[0].result["result"]["conversation"])
    return seen


def config_file(folder: Path) -> Path:
    (folder / "named.py").write_text(_HANDLER)
    path = folder / "tools.yaml"
    path.write_text(_TOOLS)
    return path


async def test_our_own_server_is_told_the_same_id_throughout_a_conversation(tmp_path: Path) -> None:
    server = own_server(load_config(config_file(tmp_path), import_handlers=False))
    first, second = Conversation(), Conversation()
    assert await conversations(server, first, second) == [first.id, second.id] * 2


async def test_a_resumed_conversation_has_the_same_id(tmp_path: Path) -> None:
    server = own_server(load_config(config_file(tmp_path), import_handlers=False))
    talk = Conversation()
    resumed = Conversation.from_json(talk.to_json())
    assert await conversations(server, talk, resumed) == [talk.id] * 4


async def test_another_server_is_not_told_of_the_conversation(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "toolspan_server", "--config", str(config_file(tmp_path)))
    assert await conversations(ServerSpec("other", command=command), Conversation()) == [None, None]
