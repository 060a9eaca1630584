"""``/help``: lists the commands, or tells of one."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from click import HelpFormatter

from ....terminal.output import print_coloured, print_note
from ....terminal.width import columns_of
from ...chat import Chat
from ...command import Command
from .. import GROUPS, commands, find_command

_WIDTH = 26
_KEYS = (
    ("Enter", "sends; Alt+Enter, or \\ at the end of a line, begins another line"),
    ("Tab", "completes commands, tools, models, @files, prompts and resources"),
    ("Up, Ctrl+R", "earlier lines, and a search in them"),
    ("Ctrl+C", "clears the line, ends an answer, and twice on an empty line leaves; so does Ctrl+D"),
    ("Ctrl+X Ctrl+E", "opens the line in an editor, as /edit does"),
    ("@FILE", "attaches a file: an image, a PDF, or text"),
)


async def _run(chat: Chat, argument: str) -> None:
    del chat
    if argument:
        print_note(find_command(argument.removeprefix("/")).line)
        return
    for group, title in GROUPS.items():
        _print(title, [(command.written, command.help) for command in commands(group)])
    _print("keys", _KEYS)


def _print(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Two columns, each row's help wrapped within the second; below a name that is longer than the first."""
    formatter = HelpFormatter(width=columns_of(sys.stderr))
    with formatter.indentation():
        formatter.write_dl([(f"{name:<{_WIDTH}}", help) for name, help in rows], col_max=_WIDTH)
    print_coloured([("", None), (title, "cyan")])
    print_coloured((line.rstrip(), None) for line in formatter.getvalue().splitlines())


COMMAND = Command("help", "[COMMAND]", "lists the commands and keys", _run)
