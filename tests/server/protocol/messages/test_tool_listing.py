"""The first page of tools as it is written: what ``list_tools`` says, in memory that does not pile up."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.support.served import tool
from toolspan_server.config import load_config
from toolspan_server.protocol.messages.pagination import list_tools, written_tools
from toolspan_server.protocol.stdio.first_requests import ConfiguredView
from toolspan_server.tools.registry import compile_tools

pytestmark = pytest.mark.requirement("I9.4.4")


def view(folder: Path, tools: int, **limits: int) -> ConfiguredView:
    registry = [
        tool(
            f"tool_{number}", {"type": "mock", "mock_response": "é"}, title=f"Tool {number}", tags=["a", "b"]
        )
        for number in range(tools)
    ]
    path = folder / f"{tools}.json"
    path.write_text(json.dumps({"tools": {"registry": registry}, "limits": limits}))
    config = load_config(path)
    return ConfiguredView(config, compile_tools(config).registry)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("tools", [0, 1, 5])
def test_it_is_what_the_list_says(tmp_path: Path, version: str, tools: int) -> None:
    shown = view(tmp_path, tools, page_size=3)
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "s"}}
    written = written_tools(shown, version, meta)
    assert written == json.dumps(
        {**list_tools(shown, None, version), "_meta": meta}, ensure_ascii=False, separators=(",", ":")
    )


def test_writing_many_tools_takes_little_more_memory_than_their_text(tmp_path: Path) -> None:
    def peak(tools: int) -> float:
        shown: Any = view(tmp_path, tools, page_size=tools)
        tracemalloc.start()
        text = written_tools(shown, "2025-11-25", {})
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(json.loads(text)["tools"]) == tools
        return most / len(text)

    assert peak(2_000) < 5
