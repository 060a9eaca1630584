"""Mocks that answer with content blocks."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.executors import executor_of, tool
from tests.support.talking import talking
from toolspan_server import Executor, Registry, load_config
from toolspan_server.calls.caller import LOCAL

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.2")]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="


def implementation(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"type": "mock", "content": list(blocks), **more}


def served_from(folder: Path, *blocks: Any) -> Executor:
    """An executor of the mock ``m`` in a config file in ``folder``."""
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [tool("m", implementation(*blocks))]}}))
    return Executor(Registry.from_config(load_config(path)))


async def test_every_type_of_content_arrives_in_both_eras() -> None:
    blocks = [
        "Ticket {{ id }}",
        {"type": "text", "text": "{{ id }}", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": PNG},
        {"type": "audio", "data": WAV},
        {"type": "resource_link", "uri": "https://example.com/{{ id }}", "name": "Ticket", "size": 3},
        {"type": "resource", "resource": {"uri": "test://{{ id }}", "mimeType": "text/plain", "text": "Hi"}},
        {"type": "resource", "resource": {"uri": "test://b", "blob": PNG}},
    ]
    expected = [
        {"type": "text", "text": "Ticket 7"},
        {"type": "text", "text": "7", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "audio", "data": WAV, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "https://example.com/7", "name": "Ticket", "size": 3},
        {"type": "resource", "resource": {"uri": "test://7", "mimeType": "text/plain", "text": "Hi"}},
        {"type": "resource", "resource": {"uri": "test://b", "blob": PNG}},
    ]
    written = tool("m", implementation(*blocks, structured={"id": "{{ id }}"}))
    async with talking(written) as server:
        modern = (await server.call("m", params={"arguments": {"id": 7}}))["result"]
        session = await server.session()
        earlier = (await session.ask("tools/call", {"name": "m", "arguments": {"id": 7}})).messages[-1]
    assert modern["content"] == earlier["result"]["content"] == expected
    assert modern["structuredContent"] == earlier["result"]["structuredContent"] == {"id": 7}


async def test_files_beside_the_config_are_sent_as_they_are_now(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "dot.png").write_bytes(base64.b64decode(PNG))
    (tmp_path / "note.md").write_text("# first")
    (tmp_path / "data.bin").write_bytes(b"\xff\x00")
    executor = served_from(
        tmp_path,
        {"type": "image", "file": "pictures/dot.png"},
        {"type": "resource", "resource": {"uri": "test://note", "file": "note.md"}},
        {"type": "resource", "resource": {"uri": "test://data", "file": "data.bin"}},
    )
    image, note, data = (await executor.execute("m", None, LOCAL)).content or ()
    assert image == {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert note["resource"] == {"uri": "test://note", "mimeType": "text/markdown", "text": "# first"}
    assert data["resource"]["blob"] == base64.b64encode(b"\xff\x00").decode()
    (tmp_path / "note.md").write_text("# second")
    changed = (await executor.execute("m", None, LOCAL)).content or ()
    assert changed[1]["resource"]["text"] == "# second"


async def test_a_file_that_is_not_there_fails_the_call_alone(tmp_path: Path) -> None:
    executor = served_from(tmp_path, {"type": "image", "file": "gone.png"})
    result = await executor.execute("m", None, LOCAL)
    assert result.error == "The file 'gone.png' of the answer cannot be read: No such file or directory"
    (tmp_path / "gone.png").write_bytes(b"x" * ((16 << 20) + 1))
    assert "more than 16,777,216 bytes" in (await executor.execute("m", None, LOCAL)).error


async def test_content_beyond_the_limit_of_results_is_left_out_aloud() -> None:
    data = base64.b64encode(b"\x89PNG" + b"x" * 5_000).decode()
    block = {"type": "image", "data": data, "mimeType": "image/png"}
    executor = executor_of(tool("m", implementation("first", block)), max_result_bytes=4_096)
    first, second = (await executor.execute("m", None, LOCAL)).content or ()
    assert first["text"] == "first"
    assert second["text"].startswith("[left out here: image of ")
