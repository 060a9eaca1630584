"""Clients of the TypeScript SDKs work in a workspace over stdio and HTTP, and answer its questions."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.interop.test_interop import RUN_S, output_of, runner
from tests.support.served import command, http_server
from tests.support.workspaces import write_files

pytestmark = [
    pytest.mark.long,
    pytest.mark.node,
    pytest.mark.xdist_group("interop"),
    pytest.mark.requirement("I12.7.7"),
]
WAYS = [
    ("v1", False, "stdio"),
    ("v1", False, "http"),
    ("v2", False, "stdio"),
    ("v2", False, "http"),
    ("v2", True, "stdio"),
    ("v2", True, "http"),
]
QUESTION = {"question": "High or low?", "options": ["High", "Low"]}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"file_path": "a.py"}),
    ("Edit", {"file_path": "a.py", "old_string": "low", "new_string": "high"}),
    ("Write", {"file_path": "b/c.txt", "content": "new\n"}),
    ("Glob", {"pattern": "**/*.txt"}),
    ("Grep", {"pattern": "tide", "output_mode": "content"}),
    ("Bash", {"command": "cat b/c.txt; pwd"}),
    ("TodoWrite", {"todos": [{"content": "Wait for the tide", "status": "pending"}]}),
    ("Todos", {}),
    ("AskUserQuestion", {"questions": [QUESTION]}),
    ("Write", {"file_path": "d.py", "content": "mine\n"}),
    ("Read", {"file_path": "../outside.txt"}),
]


@pytest.mark.parametrize(("sdk", "modern", "transport"), WAYS)
def test_a_client_of_typescript_reads_writes_searches_runs_and_answers_in_a_workspace(
    tmp_path: Path, sdk: str, modern: bool, transport: str
) -> None:
    run = runner("workspace.mjs")
    folder = write_files(tmp_path / "work", {"a.py": "tide = 'low'\n", "d.py": "theirs\n"})
    write_files(tmp_path, {"outside.txt": "secret\n"})
    config = tmp_path / "toolspan.json"
    services = {"workspaces": {"main": {"path": str(folder)}}}
    source = {"type": "workspace", "workspace": "main"}
    config.write_text(json.dumps({"services": services, "tools": {"sources": [source]}}))
    target: dict[str, Any] = {"sdk": sdk, "modern": modern, "calls": CALLS}
    with ExitStack() as stack:
        if transport == "http":
            target["url"] = f"{stack.enter_context(http_server(config)).url}/mcp"
        else:
            target["command"] = command("--config", config)
        seen = json.loads(output_of([*run, json.dumps(target)], RUN_S).splitlines()[-1])

    assert {name for name, _ in CALLS} <= set(seen["tools"])
    texts = [text for _, _, text in seen["results"]]
    assert [failed for _, failed, _ in seen["results"]] == [False] * 9 + [True] * 2, seen["results"]
    read, edited, _, globbed, grepped, ran, _, todos, told, unread, outside = texts
    assert "tide = 'low'" in read and "tide = 'high'" in edited
    assert (folder / "a.py").read_text() == "tide = 'high'\n"
    assert (folder / "b/c.txt").read_text() == "new\n"
    assert "b/c.txt" in globbed and "a.py" not in globbed
    assert "a.py" in grepped and "tide = 'high'" in grepped
    assert "new\n" in ran.replace("\\n", "\n") and str(folder) in ran
    assert "Wait for the tide" in todos
    assert "High" in told and any("High or low?" in message for message in seen["asked"])
    assert "was not read" in unread and (folder / "d.py").read_text() == "theirs\n"
    assert "outside of the workspace" in outside and "secret" not in outside
