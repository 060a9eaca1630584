"""``/servers``: lists the servers, adds one, or starts one again."""

from __future__ import annotations

from collections.abc import Iterable

from toolspan_server.common.did_you_mean import nearest

from .....errors import ConsentError, UnreachableError, UsageError
from .....sessions.chosen.target import servers_of_texts
from ....terminal.output import print_note
from ....terminal.questions.one_question import agreed_here, has_terminal
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    way, _, rest = argument.partition(" ")
    if way == "add" and rest.strip():
        await _add(chat, rest.strip())
    elif way == "restart" and rest.strip():
        await _restart(chat, rest.strip())
    elif argument:
        raise UsageError("/servers takes nothing, add COMMAND|URL, or restart NAME")
    else:
        _list(chat)


def _list(chat: Chat) -> None:
    states = chat.asker.session.toolbox.servers
    for state in states:
        tools = f"{state.tools} tool{'' if state.tools == 1 else 's'}"
        print_note(f"{state.name}: {tools if state.failure is None else f'gone: {state.failure.reason}'}")
    if not states:
        print_note("there are no servers: /servers add COMMAND|URL adds one")


async def _add(chat: Chat, text: str) -> None:
    session = chat.asker.session
    if session.choice.locked:
        raise UsageError("--locked: only the tools of the lock file are used, so no server is added")
    [spec] = servers_of_texts([text], [state.name for state in session.toolbox.servers])
    does = f"connect to {spec.url}" if spec.url else f"run {text!r} on this machine, as you"
    if not has_terminal():
        raise ConsentError(f"/servers add would {does}, and nobody can be asked here: pass --server {text!r}")
    if not await agreed_here(f"{does[:1].upper()}{does[1:]}, and let the model use its tools?"):
        print_note("nothing was added")
        return
    print_note(f"{spec.name}: connecting …")
    chat.asker.session = await chat.host.joined(session, spec)
    added = [tool for tool in chat.asker.session.toolbox.tools if tool.server == spec.name]
    print_note(f"{spec.name}: {', '.join(tool.name for tool in added) or 'it has no tools'}")


async def _restart(chat: Chat, name: str) -> None:
    toolbox = chat.asker.session.toolbox
    names = [state.name for state in toolbox.servers]
    if name not in names:
        raise UsageError(f"there is no server {name!r} ({nearest(name, names)})")
    print_note(f"{name}: starting again …")
    failure = await toolbox.restart(name)
    if failure is not None:
        raise UnreachableError(str(failure))
    tools = sum(state.tools for state in toolbox.servers if state.name == name)
    print_note(f"{name}: {tools} tool{'' if tools == 1 else 's'}")


async def _words(chat: Chat, before: tuple[str, ...], typed: str) -> Iterable[str]:
    del typed
    if not before:
        return ("add", "restart")
    return [state.name for state in chat.asker.session.toolbox.servers] if before == ("restart",) else ()


COMMAND = Command(
    "servers",
    "[add COMMAND|URL | restart NAME]",
    "lists the servers, adds one, or starts one again",
    _run,
    _words,
)
