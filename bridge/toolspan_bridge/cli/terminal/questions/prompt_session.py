"""Sessions of prompt_toolkit that ask on stderr, and send a dumb terminal nothing but text."""

from __future__ import annotations

import sys
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.output import create_output
from prompt_toolkit.output.plain_text import PlainTextOutput
from prompt_toolkit.utils import is_dumb_terminal

__all__ = ["asked", "prompt_session"]


def prompt_session(**settings: Any) -> PromptSession[str]:
    """A session with ``settings``, those of ``PromptSession``.

    That one has a prompt without codes for dumb terminals, for which it must have the output of the
    application's session, not one of its own.
    """
    if not is_dumb_terminal():
        return PromptSession(output=create_output(stdout=sys.stderr), **settings)
    with create_app_session(output=PlainTextOutput(sys.stderr)):
        return PromptSession(**settings)


async def asked(session: PromptSession[str], message: str, default: str = "", **settings: Any) -> str:
    """A line for ``message`` that begins as ``default``; ``settings`` are those of ``prompt_async``. Raises
    ``EOFError`` and ``KeyboardInterrupt``.

    A dumb terminal is not shown a default, so that stands behind the message; and it is asked before it has
    been set to single keys, when Ctrl+D would be lost, so that is done first.
    """
    if not is_dumb_terminal():
        return await session.prompt_async(message, default=default, **settings)
    with session.app.input.raw_mode():
        return await session.prompt_async(message + default, default=default, **settings)
