"""What a chat begins with: who answers, with which tools, where, and how to get help."""

from __future__ import annotations

import sys
from pathlib import Path

from toolspan_server.common.visible import visible_line

from ...errors import StoreError
from ...loop import Question
from ...providers import Provider
from ..terminal.diffs import Line
from ..terminal.output import compact, print_coloured
from ..terminal.width import columns_of
from .chat import Chat

__all__ = ["show_banner"]

_HELP = "Ask anything. /help for commands, Ctrl+D leaves."
_OFFLINE = "offline"


async def show_banner(chat: Chat) -> None:
    """Print it on stderr. Raises ``BridgeError`` where the model cannot answer: no such provider, no key."""
    question, provider = await chat.routed("")
    model = f"{provider.name}/{question.model}"
    await chat.asker.standing.heed(question, provider, say=False)
    badge, is_proven = await _badge(chat, question, provider)
    by_prompts = " by prompts" if provider.format_name.startswith("prompt") else ""
    lines: list[Line] = [(f"  model      {model}{by_prompts} · {badge}", None if is_proven else "yellow")]
    lines += [(f"  tools      {_tools(chat)}", None if chat.asker.session.toolbox.tools else "yellow")]
    if folder := chat.asker.session.choice.workspace:
        lines.append((f"  workspace  {_at_home(Path(folder))}", None))
    if chat.saved.messages:
        lines.append((f"  resumed    {_resumed(chat)}", None))
    width = columns_of(sys.stderr) - 1
    shown = [(compact(visible_line(text), max(width, 20)), colour) for text, colour in lines]
    print_coloured([("Toolspan", "cyan"), *shown, (f"  {_HELP}", None)])


async def _badge(chat: Chat, question: Question, provider: Provider) -> tuple[str, bool]:
    """What validation found about the model, and whether it is nothing to look out for."""
    if provider.name == _OFFLINE:
        return "no language model (-m NAME)", True
    try:
        badge = await chat.asker.standing.badge(question, provider)
    except StoreError as error:
        return f"whether it is validated is not known: {error}", False
    if badge.status == "untested":
        return "never tried (toolspan validate)", False
    signs = (sys.stderr.encoding or "").lower().startswith("utf")
    return badge.signed if signs else badge.text, badge.status == "validated"


def _tools(chat: Chat) -> str:
    servers = chat.asker.session.toolbox.servers
    count = len(chat.asker.session.toolbox.tools)
    if not servers:
        return "none: no server is configured (toolspan init, or --server COMMAND|URL)"
    listed = ", ".join(f"{each.name} {'does not answer' if each.failure else each.tools}" for each in servers)
    return f"{count} · {listed}"


def _resumed(chat: Chat) -> str:
    count = len(chat.saved.messages)
    return f"{count:,} message{'' if count == 1 else 's'} · /history shows them"


def _at_home(folder: Path) -> str:
    whole = folder.resolve()
    return f"~/{whole.relative_to(Path.home())}" if whole.is_relative_to(Path.home()) else str(whole)
