"""The terminal as what one question at a time is asked at: lines of the person's, read by prompt_toolkit."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from toolspan_server.common.visible import visible_line

from ..output import print_note
from ..waiting.status_line import occupied
from ..waiting.waits import waits_here

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.validation import Validator

_QUESTION = anyio.Lock()
_WRITTEN_OUT = {"yes": "y", "no": "n"}
"""Words for keys. Other words are no answer: a "cancel" must not be the c of "in this conversation"."""


def has_terminal() -> bool:
    """Whether there is a terminal to ask at: stdin and stderr are one."""
    return sys.stdin.isatty() and sys.stderr.isatty()


@asynccontextmanager
async def one_question() -> AsyncGenerator[None]:
    """The person is asked in the block, and nothing else is asked meanwhile. Raises ``EOFError`` for Ctrl+D;
    Ctrl+C is the signal that it is anywhere else, which ends the turn."""
    async with _QUESTION:
        try:
            with waits_here().paused(), occupied():
                yield
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            await anyio.sleep_forever()


async def agreed_here(question: str) -> bool:
    """Whether a person at the terminal says yes; where nobody can be asked, it is no."""
    if not has_terminal():
        return False
    try:
        async with one_question():
            answer = await read_line(f"{visible_line(question)} [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


async def read_key(message: str, keys: Collection[str]) -> str:
    """The one of ``keys`` that the person answers with, at last. Raises as ``read_line``."""
    known = [*keys]
    while True:
        written = (await read_line(message)).strip().lower()
        if (key := _WRITTEN_OUT.get(written, written)) in known:
            return key
        print_note(f"answer with one of {', '.join(each or 'Enter' for each in known)}")


async def read_line(
    message: str,
    default: str = "",
    check: Callable[[str], str] | None = None,
    toolbar: str = "",
    words: Sequence[str] = (),
) -> str:
    """A line of the person's. ``check`` gives what is wrong with a line, which then stays to be corrected;
    Tab completes to ``words``. Raises ``EOFError`` and ``KeyboardInterrupt``."""
    from prompt_toolkit.utils import is_dumb_terminal

    from .prompt_session import asked, prompt_session

    session = prompt_session()
    if is_dumb_terminal():
        return await _plain_line(session, message, default, check)
    return await asked(
        session,
        message,
        default,
        handle_sigint=False,
        validator=None if check is None else _validator(check),
        validate_while_typing=False,
        bottom_toolbar=toolbar or None,
        completer=_completer(words) if words else None,
    )


async def _plain_line(
    session: PromptSession[str], message: str, default: str, check: Callable[[str], str] | None
) -> str:
    """As ``read_line``, where nothing that was shown can be changed."""
    from .prompt_session import asked

    while True:
        line = await asked(session, message, default, handle_sigint=False)
        fault = check(line) if check else ""
        if not fault:
            return line
        print_note(fault)


def _completer(words: Sequence[str]) -> Completer:
    from prompt_toolkit.completion import WordCompleter

    return WordCompleter(list(words), sentence=True, match_middle=True)


def _validator(check: Callable[[str], str]) -> Validator:
    from prompt_toolkit.document import Document
    from prompt_toolkit.validation import ValidationError, Validator
    from typing_extensions import override

    class Checked(Validator):
        """Holds lines to ``check``."""

        @override
        def validate(self, document: Document) -> None:
            if fault := check(document.text):
                raise ValidationError(len(document.text), fault)

    return Checked()
