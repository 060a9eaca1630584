"""What confines the commands of a workspace's Bash, found by running one."""

from __future__ import annotations

import sys
import tempfile
from functools import partial

import anyio.to_thread

from ...init import server_description
from ..finding import Finding, ok, warning
from ..surroundings import Surroundings

ORDER = 80
_TAG = "sandbox:"


async def check(around: Surroundings) -> list[Finding]:
    """The sandbox that a workspace's server finds here."""
    with tempfile.TemporaryDirectory() as folder:
        found = await anyio.to_thread.run_sync(partial(server_description, "--workspace", folder))
    tags = [tag for tool in found["tools"] if tool["name"] == "Bash" for tag in tool["tags"]]
    kind = next((tag.removeprefix(_TAG) for tag in tags if tag.startswith(_TAG)), "none")
    if kind != "none":
        return [ok(f"commands in a workspace are confined by {kind}")]
    todo = "install bubblewrap (bwrap)" if sys.platform == "linux" else "each command is asked about"
    return [warning("there is no sandbox for commands in a workspace: each one is asked about", todo)]
