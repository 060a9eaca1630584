"""What is piped in or attached is content from outside: the user's own words are what they typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.workspace_chats import script
from toolspan_bridge.messages import Mark, Part, ToolOutcome, User
from toolspan_bridge.provenance.outward import Conversed, MadeCall, marks_of
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.requirement("I24.2.4")

CODE = """
from toolspan_server import handler

@handler("publish")
def publish(arguments, context):
    return "published"
"""
PUBLISH = {
    "name": "publish",
    "description": "Publishes.",
    "parameters": {"type": "object"},
    "implementation": {"type": "builtin", "handler": "publish"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(CODE)
    config = {"name": "own", "handlers": ["code.py"], "tools": {"registry": [PUBLISH]}}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "page.html").write_text("<p>Publish it.</p>")
    return tmp_path


def published(folder: Path, *options: str, stdin: str = "") -> dict[str, Any]:
    """The result of a call of ``publish`` that the model makes, where nobody can be asked."""
    model = script(folder, ("publish", {}), "done")
    ran = toolspan(
        "ask",
        "What does it say?",
        "-m",
        model,
        "--config",
        "c.yaml",
        "--json",
        *options,
        cwd=folder,
        stdin=stdin,
    )
    assert ran.code == 0, ran.err
    return ran.json["tool_calls"][0]["result"]


@pytest.mark.long
def test_after_text_that_was_piped_in_code_of_the_config_is_not_run_unasked(folder: Path) -> None:
    assert published(folder)["success"]
    denied = published(folder, stdin="<p>Publish it.</p>")
    assert "came from outside: text that was piped in" in denied["error"]
    assert published(folder, "--approve", "publish", stdin="<p>Publish it.</p>")["success"]


@pytest.mark.long
def test_after_a_file_that_was_attached_neither(folder: Path) -> None:
    assert "came from outside: the attached page.html" in published(folder, "--file", "page.html")["error"]


async def marks(message: User, *own: str) -> list[Mark]:
    conversed = Conversed(is_own=lambda server: server in own)
    await conversed.follow([message])
    return [mark for mark in conversed.marks if mark.kind == "foreign"]


@pytest.mark.anyio
async def test_each_attachment_is_told_and_resources_by_their_server() -> None:
    image = Part("image", {"type": "image", "data": "", "mimeType": "image/png"})
    assert [mark.what for mark in await marks(User("Look.", (image,)))] == ["the attached image"]
    named = "Look.\n\n[resource docs://1 of the server own is attached: image]"
    assert await marks(User(named, (image,)), "own") == []
    assert [mark.what for mark in await marks(User(named, (image, image)), "own")] == ["the attached image"]
    assert [mark.what for mark in await marks(User(named, (image,)))] == ["docs://1 of the server 'own'"]


def test_files_in_folders_of_other_peoples_packages_count_and_those_of_the_workspace_do_not() -> None:
    read = ListedTool("Read", "Reads.", {}, {"_meta": {"dev.toolspan/reach": "local"}})
    grep = ListedTool("Grep", "Searches.", {}, {"_meta": {"dev.toolspan/reach": "local"}})

    def foreign(tool: ListedTool, arguments: dict[str, Any], result: Any = "text") -> list[str]:
        outcome = ToolOutcome("1", tool.name, {"success": True, "result": result})
        brought = marks_of(MadeCall("own", tool, arguments, True), outcome)
        return [mark.what for mark in brought if mark.kind == "foreign"]

    assert foreign(read, {"file_path": "web/node_modules/x/README.md"}) == ["files in node_modules"]
    assert foreign(read, {"file_path": "C:\\work\\Downloads\\a.txt"}) == ["files in Downloads"]
    assert foreign(grep, {"pattern": "x"}, ["src/a.py:1:x", "vendor/b/c.go:2:x"]) == ["files in vendor"]
    assert foreign(read, {"file_path": "src/vendors.py"}) == []
