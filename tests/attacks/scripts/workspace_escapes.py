"""Ways out of a workspace: names, links, files that are none, and folders exchanged while they are opened."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.support.raw_http import RawClient, request, tool_headers
from tests.support.served import MODERN_META, call, write_config
from tests.support.swapping import swapping
from tests.support.workspaces import write_files

from ..attack import Attack, Target

_SECRET = "secret-of-outside"
_SWAPS = 2_000
_META = {**MODERN_META, "dev.toolspan/conversation": "one"}


def _config(folder: Path) -> Path:
    write_files(folder, {"outside/secret.txt": _SECRET, "ws/inner/secret.txt": "mine", "ws/a.txt": "a"})
    (folder / "ws" / "link").symlink_to("../outside")
    (folder / "ws" / "file").symlink_to("../outside/secret.txt")
    os.mkfifo(folder / "ws" / "fifo")
    config = write_config(folder)
    content = json.loads(config.read_text())
    content["services"] = {"workspaces": {"main": {"path": "ws"}}}
    content["tools"]["sources"] = [{"type": "workspace", "workspace": "main", "approval": False}]
    config.write_text(json.dumps(content))
    return config


def _calls(outside: Path) -> list[tuple[str, dict[str, Any]]]:
    """Calls that lead out, or to what is no file."""
    ways = [
        "../outside",
        str(outside),
        "link",
        "a/../../outside",
        "inner/../../outside",
        "./link/../../outside",
    ]
    paths = [*(f"{way}/secret.txt" for way in ways), "file", "/etc/passwd", "/proc/self/environ", "/dev/zero"]
    reads = [("Read", {"file_path": path}) for path in (*paths, "fifo", "link/secret.txt\0", "~/secret.txt")]
    writes = [("Write", {"file_path": f"{way}/made.txt", "content": "evil"}) for way in ways]
    searches = [("Grep", {"pattern": "secret", "path": way, "output_mode": "content"}) for way in ways]
    globs = [
        ("Glob", {"pattern": pattern}) for pattern in ("../**/*", f"{outside}/*", "link/*", "**/secret.txt")
    ]
    return [*reads, *writes, *searches, *globs, ("Write", {"file_path": "file", "content": "evil"})]


def run(target: Target) -> None:
    """No answer has a word of what is outside, nothing is written there, and each call is answered."""
    outside, inner = target.folder / "outside", target.folder / "ws"
    with RawClient(target.server.address) as client:
        for name, arguments in _calls(outside):
            answer = _called(client, name, arguments)
            assert _SECRET not in answer and "root:" not in answer, f"{name} {arguments}: {answer[:300]}"
        seen = 0
        with swapping(inner, _SWAPS) as swapper:
            while swapper.poll() is None:
                seen += _swapped(client)
        assert swapper.returncode == 0 and seen > 0
    assert {path.name for path in outside.iterdir()} == {"secret.txt"}
    assert (outside / "secret.txt").read_text() == _SECRET


def _swapped(client: RawClient) -> int:
    """Calls on the folder that is being exchanged; how many reached the one that it should be."""
    read = _called(client, "Read", {"file_path": "inner/secret.txt"})
    written = _called(client, "Write", {"file_path": "inner/made.txt", "content": "evil"})
    found = _called(client, "Grep", {"pattern": "secret|mine", "path": "inner", "output_mode": "content"})
    assert not any(_SECRET in answer for answer in (read, written, found)), (read, written, found)
    return int("mine" in read)


def _called(client: RawClient, name: str, arguments: dict[str, Any]) -> str:
    message = call(1, name, arguments)
    body = json.dumps({**message, "params": {**message["params"], "_meta": _META}}).encode()
    client.send(request("POST", "/mcp", *tool_headers(name), body=body))
    return client.answer().body.decode()


ATTACK = Attack(
    "I12.1.16",
    "names, links and exchanged folders that lead out of a workspace",
    run,
    config=_config,
    descriptors=8,
)
