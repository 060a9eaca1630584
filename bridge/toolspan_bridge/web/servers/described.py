"""What the API says of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, TypeVar

import anyio
import anyio.to_thread
from pydantic import Field

from toolspan_server.common.did_you_mean import nearest

from ...errors import BridgeError
from ...sessions.locking import listed_definitions, lock_path
from ...toolbox.toolbox import ServerState
from ...trust import drifts, read_lock
from ..api._tool_facts import ToolInfo, tool_info
from ..endpoint import Answer
from ..problems import Problem

if TYPE_CHECKING:
    from ...sessions.session import Session

State = Literal["connected", "failed", "needs_sign_in", "disconnected"]
_T = TypeVar("_T")
_SECONDS = 5.0


class ChangedTool(Answer):
    """A tool whose definition is not the one of the lock file."""

    tool: str
    kind: Literal["changed", "new", "missing"]
    diff: list[str] = Field(description="The lines of a unified diff from the locked definition.")


class ServerInfo(Answer):
    """A server as the list has it."""

    name: str
    state: State
    transport: str
    error: str | None
    tools: int
    resources: int | None = Field(description="How many it lists; null where it does not say.")
    prompts: int | None
    changed: list[ChangedTool] = Field(description="Tools that differ from the lock file.")


class PromptInfo(Answer):
    """A prompt: its arguments by name, with whether each is needed."""

    name: str
    description: str
    arguments: dict[str, bool]


class ServerFacts(Answer):
    """A server with all that it has."""

    name: str
    state: State
    transport: str
    error: str | None
    tools: list[ToolInfo]
    resources: list[str]
    templates: list[str]
    prompts: list[PromptInfo]
    changed: list[ChangedTool]
    logs: list[str] = Field(description="The last lines that it wrote to stderr, also before its end.")


def server_named(session: Session, name: str) -> ServerState:
    """The server of that name. Raises ``Problem``."""
    states = {state.name: state for state in session.toolbox.servers}
    if name not in states:
        raise Problem(404, f"there is no server {name!r} ({nearest(name, states)})")
    return states[name]


def state_word(state: ServerState) -> State:
    """How the server stands."""
    if state.disconnected:
        return "disconnected"
    if state.failure is None:
        return "connected"
    return "needs_sign_in" if state.failure.needs_sign_in else "failed"


def error_of(state: ServerState) -> str | None:
    """Why the server is not there; none of one that was disconnected here."""
    return None if state.failure is None or state.disconnected else state.failure.reason


async def server_info(session: Session, state: ServerState) -> ServerInfo:
    """What the list says of a server."""
    contents = session.toolbox.contents
    there = state.failure is None
    resources = await _within(lambda: contents.resources(state.name)) if there else None
    prompts = await _within(lambda: contents.prompts(state.name)) if there else None
    return ServerInfo(
        name=state.name,
        state=state_word(state),
        transport=state.transport,
        error=error_of(state),
        tools=state.tools,
        resources=None if resources is None else len(resources),
        prompts=None if prompts is None else len(prompts),
        changed=await changed_tools(session, state),
    )


async def server_facts(session: Session, state: ServerState, *, logs: bool) -> ServerFacts:
    """Everything of a server; its ``logs`` for whoever runs the app, as they may tell of anybody's calls."""
    name, contents = state.name, session.toolbox.contents
    there = state.failure is None
    tools = [tool for tool in session.toolbox.tools if tool.server == name] if there else []
    return ServerFacts(
        name=name,
        state=state_word(state),
        transport=state.transport,
        error=error_of(state),
        tools=[tool_info(session.config, session.toolbox, tool) for tool in tools],
        resources=list(await _within(lambda: contents.resources(name)) or ()) if there else [],
        templates=list(await _within(lambda: contents.templates(name)) or ()) if there else [],
        prompts=[
            PromptInfo(name=each.name, description=each.description, arguments=dict(each.arguments))
            for each in (await _within(lambda: contents.prompts(name)) or () if there else ())
        ],
        changed=await changed_tools(session, state),
        logs=list(state.last_words) if logs else [],
    )


async def changed_tools(session: Session, state: ServerState) -> list[ChangedTool]:
    """The tools of a server that is there which are not as the lock file has them; none without one."""
    if state.failure is not None:
        return []
    locked = await anyio.to_thread.run_sync(read_lock, lock_path(session.config))
    if locked is None or state.name not in locked:
        return []
    listed = listed_definitions(session.toolbox).get(state.name, {})
    found = drifts({state.name: locked[state.name]}, {state.name: listed})
    return [ChangedTool(tool=each.tool, kind=each.kind, diff=each.diff) for each in found]


async def _within(ask: Callable[[], Awaitable[_T]]) -> _T | None:
    """What a server lists; ``None`` where it does not in a few seconds, or refuses to."""
    try:
        with anyio.fail_after(_SECONDS):
            return await ask()
    except (BridgeError, TimeoutError):
        return None
