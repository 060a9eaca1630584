"""Texts for people in lines that fit a terminal."""

from __future__ import annotations

import re
import textwrap

_NARROWEST = 20
_COMMAND = re.compile(r"`[^`\n]+`")
_HELD = "\0"


def broken_between_words(text: str, columns: int) -> str:
    """``text`` in lines of fewer than ``columns``, further ones indented; a longer word, and a command in
    backquotes, which is there to be copied, stays in one piece."""
    width = max(_NARROWEST, columns - 1)
    held = _COMMAND.sub(lambda command: command[0].replace(" ", _HELD), text)
    lines = [
        part
        for line in held.splitlines()
        for part in textwrap.wrap(
            line,
            width,
            subsequent_indent="    ",
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [""]
    ]
    return "\n".join(lines).replace(_HELD, " ")
