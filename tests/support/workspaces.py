"""A folder with files, and the tools of a workspace on it, called as a client's request calls them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.asked_client import Waiting
from tests.support.served import BOUND_S, INITIALIZE, INITIALIZED, command
from toolspan_server import Config, Context, running
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL, Origin
from toolspan_server.calls.results import ToolResult
from toolspan_server.live.runtime import Runtime


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """``folder`` with ``files`` in it, by their paths; a text is written as UTF-8."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@dataclass(frozen=True, slots=True)
class WorkspaceTools:
    """The tools of a workspace, of a running server."""

    runtime: Runtime
    origin: Origin = LOCAL

    def of(self, origin: Origin) -> WorkspaceTools:
        """The same, called from ``origin``."""
        return WorkspaceTools(self.runtime, origin)

    async def result(self, tool: str, conversation: str | None = None, /, **arguments: Any) -> ToolResult:
        """The result of calling ``tool`` in ``conversation``."""
        meta = {} if conversation is None else {CONVERSATION_KEY: conversation}
        return await self.runtime.execute(tool, arguments, self.origin, meta=meta)

    async def good(self, tool: str, conversation: str | None = None, /, **arguments: Any) -> Any:
        """The value of a call that has to succeed."""
        result = await self.result(tool, conversation, **arguments)
        assert result.success, result.error
        return result.result

    async def planning(self, conversation: str = "c") -> Any:
        """What ``EnterPlanMode`` gives a client that can ask a person, in ``conversation``."""
        context = Context(self.origin, meta={CONVERSATION_KEY: conversation}, client=Waiting())
        result = await self.runtime.execute("EnterPlanMode", {}, context)
        assert result.success, result.error
        return result.result

    async def refused(self, tool: str, conversation: str | None = None, /, **arguments: Any) -> str:
        """``error_code: error`` of a call that has to fail."""
        result = await self.result(tool, conversation, **arguments)
        assert not result.success, result.result
        return f"{result.error_code}: {result.error}"


def workspace_config(folder: Path, state: Path, **entry: Any) -> Config:
    """A config with the workspace ``folder``: ``entry`` are further keys of it, ``source`` of its source, and
    ``config`` of the whole."""
    further: dict[str, Any] = entry.pop("config", {})
    source = {"type": "workspace", "workspace": "main", "approval": False, **entry.pop("source", {})}
    return Config.model_validate(
        {
            **further,
            "state_dir": str(state),
            "services": {"workspaces": {"main": {"path": str(folder), **entry}}},
            "tools": {"sources": [source]},
        }
    )


def answers_of(cwd: Path, options: Sequence[str | Path], *requests: dict[str, Any]) -> dict[Any, Any]:
    """The answers of a server on stdio, a process in ``cwd``, to a handshake and ``requests``, by id."""
    sent = "".join(json.dumps(each) + "\n" for each in (INITIALIZE, INITIALIZED, *requests)).encode()
    ran = subprocess.run(
        command(*options), input=sent, stdout=subprocess.PIPE, cwd=cwd, timeout=BOUND_S, check=True
    )
    return {each.get("id"): each for each in map(json.loads, ran.stdout.splitlines())}


@asynccontextmanager
async def workspace_tools(
    folder: Path, state: Path | None = None, **entry: Any
) -> AsyncGenerator[WorkspaceTools]:
    """The tools of the workspace ``folder`` while its server runs; see ``workspace_config``."""
    config = workspace_config(folder, state or folder.parent / "state", **entry)
    async with running(config) as runtime:
        await runtime.settled()
        yield WorkspaceTools(runtime)
