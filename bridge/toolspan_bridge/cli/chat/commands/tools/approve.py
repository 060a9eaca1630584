"""``/approve``: which calls run without asking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from toolspan_server.common.did_you_mean import nearest

from .....approvals import Policy
from .....approvals.patterns import names_tool
from .....errors import UsageError
from .....sessions.approving import policy_of
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command

_POLICIES: dict[str, Policy] = {each: each for each in get_args(Policy)}
_MEANS: dict[Policy, str] = {
    "never": "never ask: every call runs",
    "always": "ask about every call",
    "destructive": "ask about calls that may destroy, change files, or run commands",
    "rules": "ask as the config's rules say",
}


async def _run(chat: Chat, argument: str) -> None:
    way, _, rest = argument.partition(" ")
    allowed = chat.approvals.allowed
    if argument in _POLICIES:
        chat.approvals = replace(chat.approvals, policy=_POLICIES[argument])
    elif way == "off" and rest:
        if rest not in allowed:
            raise UsageError(f"{rest!r} was not approved ({nearest(rest, allowed)})")
        chat.approvals = replace(chat.approvals, allowed=tuple(each for each in allowed if each != rest))
    elif " " in argument:
        raise UsageError("/approve takes nothing, a glob of tools, off GLOB, or " + ", ".join(_POLICIES))
    elif argument:
        chat.approvals = replace(
            chat.approvals, allowed=tuple(dict.fromkeys((*allowed, _tool(chat, argument))))
        )
    _show(chat)


def _tool(chat: Chat, glob: str) -> str:
    tools = chat.asker.session.toolbox.tools
    if not any(names_tool((glob,), tool.server, tool.name) for tool in tools):
        raise UsageError(f"{glob!r} is the name of no tool ({nearest(glob, [tool.name for tool in tools])})")
    return glob


def _show(chat: Chat) -> None:
    policy = policy_of(chat.asker.session, chat.approvals)
    print_note(f"{policy}: {_MEANS[policy]}")
    if chat.approvals.allowed:
        print_note(f"without asking in this chat: {', '.join(chat.approvals.allowed)}")


async def _words(chat: Chat, before: tuple[str, ...], typed: str) -> Iterable[str]:
    del typed
    if before == ("off",):
        return chat.approvals.allowed
    return () if before else [*(tool.name for tool in chat.asker.session.toolbox.tools), *_POLICIES, "off"]


COMMAND = Command(
    "approve",
    "[GLOB|off GLOB|POLICY]",
    "lets tools run without asking; or never, always, destructive, rules ask",
    _run,
    _words,
)
