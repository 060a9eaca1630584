"""``/tools``: lists the tools, turns some on or off for the conversation, or takes them as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolspan_server.common.did_you_mean import nearest

from .....approvals.patterns import names_tool
from .....errors import BridgeError, UsageError
from .....messages import ToolSpec
from .....sessions.standing import OfferedTools
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command

_WAYS = "/tools takes nothing, on GLOB, off GLOB, or refresh"


async def _run(chat: Chat, argument: str) -> None:
    way, _, glob = argument.partition(" ")
    if way == "refresh" and not glob:
        chat.saved.conversation.refresh()
        print_note("the next question begins with its own system prompt and the tools as they are now")
    elif way in ("on", "off") and glob.strip():
        await _switch(chat, glob.strip(), on=way == "on")
    elif argument:
        raise UsageError(_WAYS)
    else:
        await _list(chat)


async def _switch(chat: Chat, glob: str, *, on: bool) -> None:
    found = [tool for tool in _tools(chat) if names_tool((glob,), tool.server, tool.name)]
    if not found:
        names = [tool.name for tool in _tools(chat)]
        raise UsageError(f"{glob!r} is the name of no tool ({nearest(glob, names)})")
    conversation = chat.saved.conversation
    failing = await _failing(chat) if on else OfferedTools()
    told = any(tool.name in failing.failing for tool in found)
    with chat.saved.written():
        conversation.settings = conversation.settings.with_rule(glob, on=on, told=told)
        conversation.record()
    named = ", ".join(tool.name for tool in found)
    print_note(f"{'on' if on else 'off'} in this conversation: {named}")


async def _list(chat: Chat) -> None:
    failing = await _failing(chat)
    servers: dict[str, list[str]] = {}
    for tool in _tools(chat):
        servers.setdefault(tool.server, []).append(f"{tool.name}{_state(chat, tool, failing)}")
    for server, names in servers.items():
        print_note(f"{server}: {', '.join(names)}")
    if not servers:
        print_note("there are no tools: /servers add COMMAND|URL adds a server, --workspace DIR a folder's")


def _state(chat: Chat, tool: ToolSpec, failing: OfferedTools) -> str:
    """What is to be known of a tool beside its name."""
    if not chat.saved.conversation.settings.allows(tool.server, tool.name):
        return " (off)"
    found = failing.failing.get(tool.name)
    if found is None:
        return ""
    where = "last" if failing.rule == "last" else "left out"
    return f" ({where}: the model fails with it, {found.counts.successes} of {found.counts.n} succeeded)"


async def _failing(chat: Chat) -> OfferedTools:
    """What becomes of the tools that the model fails with; nothing where there is no model to be asked."""
    try:
        question, provider = await chat.routed("")
        return await chat.asker.failing_tools.of(question, provider, chat.saved.conversation)
    except BridgeError:  # said when the next question is asked
        return OfferedTools()


def _tools(chat: Chat) -> Sequence[ToolSpec]:
    return chat.asker.session.toolbox.for_models().tools


async def _words(chat: Chat, before: tuple[str, ...], typed: str) -> Iterable[str]:
    del typed
    if not before:
        return ("on", "off", "refresh")
    names: Mapping[str, None] = dict.fromkeys(tool.name for tool in _tools(chat))
    return names if before in (("on",), ("off",)) else ()


COMMAND = Command(
    "tools",
    "[on|off GLOB | refresh]",
    "lists the tools, or turns some on or off in this conversation; refresh takes them as they are now",
    _run,
    _words,
)
