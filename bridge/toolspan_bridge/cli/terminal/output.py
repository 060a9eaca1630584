"""The output of verbs: data on stdout, everything else on stderr. Everything printed goes through here.

Texts come from models, servers, files and providers: none of them can control the terminal, hide, or be read
as markup (``toolspan_server.common.visible``). Data that is not printed on a terminal is left unchanged.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any

import click

from toolspan_server.common.visible import (
    VisibleStream,
    broken_between_words,
    visible,
    visible_json,
    visible_line,
)

from .waiting.status_line import cleared, occupy, once_free, unfinished
from .width import columns_of

_notes_are_printed = ContextVar("notes_are_printed", default=True)


def notes_are_printed() -> bool:
    """Whether notes are printed here: not within ``without_notes``."""
    return _notes_are_printed.get()


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` or ``--jsonl`` is among ``arguments``: then even usage errors are JSON."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options or "--jsonl" in options


def print_message(text: str, *, err: bool = False) -> None:
    """Print ``text`` for people, a line or several."""
    _echo(visible(text), err=err)


def print_text(text: str, *, err: bool = False) -> None:
    """The same for sentences, which are broken between words at a terminal."""
    _echo(_fitting(visible(text), sys.stderr if err else sys.stdout), err=err)


def print_question(text: str) -> None:
    """Print ``text`` on stderr, without an end of its line: the answer follows it. At a terminal it is broken
    between words."""
    shown = visible_line(text)
    blanks = shown[len(shown.rstrip()) :]
    _echo(_fitting(shown, sys.stderr) + blanks if sys.stderr.isatty() else shown, err=True, nl=False)


def print_note(text: str) -> None:
    """Print the note ``text`` on stderr, unless within ``without_notes``."""
    if _notes_are_printed.get():
        print_problem(text)


def print_problem(text: str) -> None:
    """Print ``text``, which is why the exit code is not 0, on stderr; at a terminal it is broken between
    words."""
    _echo(_fitting(_indented(f"toolspan: {text}"), sys.stderr), err=True)


def print_wire(head: str, body: str) -> None:
    """Print a message of a wire on stderr: ``head`` on a line, and the lines of ``body`` under it. While
    somebody writes in the last line, it is held back until that has its end."""
    lines = [visible_line(head), *(f"    {line}" for line in visible(body).splitlines())]
    once_free(lambda: _echo("\n".join(lines), err=True))


@contextmanager
def without_notes() -> Generator[None]:
    """Print no notes in the block."""
    before = _notes_are_printed.set(False)
    try:
        yield
    finally:
        _notes_are_printed.reset(before)


def heading(text: str) -> None:
    """Print ``text`` in bold after an empty line."""
    _echo(f"\n{_styled(text, bold=True)}")


def clear_screen() -> None:
    """Begin at the top of an empty screen."""
    cleared()
    click.clear()


def print_coloured(lines: Iterable[tuple[str, str | None]]) -> None:
    """Print each line on stderr, in its colour (``"red"`` …) if it has one; each stays one line."""
    for text, colour in lines:
        _echo(
            _styled(text, fg=colour) if colour and not os.environ.get("NO_COLOR") else visible_line(text),
            err=True,
        )


def print_sentence(text: str, colour: str | None) -> None:
    """Print ``text`` on stderr like one of ``print_coloured``; at a terminal it is broken between words."""
    lines = _fitting(visible_line(text), sys.stderr).split("\n")
    print_coloured((line, colour) for line in lines)


def edited_text(text: str, extension: str) -> str:
    """``text`` as the person leaves it in $VISUAL or $EDITOR. Raises ``click.ClickException``."""
    cleared()
    edited = click.edit(text, extension=extension)
    return text if edited is None else edited


def emit_text(text: str) -> None:
    """Print the data ``text`` on stdout: made visible at a terminal, unchanged elsewhere."""
    _echo(visible(text) if sys.stdout.isatty() else _writable(text))


def emit_document(text: str) -> None:
    """The same for a file's whole content, which ends its own last line."""
    _echo(visible(text) if sys.stdout.isatty() else _writable(text), nl=False)


def as_json(data: Any, indent: int | None = None) -> str:
    """``data`` as JSON for a terminal: control and invisible characters are escaped."""
    return visible_json(json.dumps(data, ensure_ascii=False, indent=indent))


def emit_json(data: Any, *, indent: int | None = 2) -> None:
    """Print ``data`` as JSON on stdout."""
    _echo(as_json(data, indent))


def emit_json_pieces(pieces: Iterable[str]) -> None:
    """Print JSON on stdout as it comes, in pieces that end between its tokens, the last with the end of its
    line."""
    for piece in pieces:
        _echo(visible_json(piece), nl=False)


def emit_json_error(data: Any) -> None:
    """Print ``data`` as a line of JSON on stderr."""
    _echo(as_json(data), err=True)


def emit_json_line(data: Any) -> None:
    """Print ``data`` as one line of JSON on stdout, at once."""
    emit_json(data, indent=None)
    sys.stdout.flush()


def emit_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table for people, its cells taken literally."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(visible_line(cell)) for cell in row))
    cleared()
    Console().print(table)


def emit_bytes(data: bytes) -> None:
    """Write the JSON ``data`` to stdout: made visible at a terminal, unchanged elsewhere."""
    if sys.stdout.isatty():
        _echo(visible_json(data.decode()))
        return
    cleared()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode())
        return
    sys.stdout.flush()
    binary.write(data)
    binary.flush()


def print_traceback(error: BaseException) -> None:
    """Print the traceback of ``error`` on stderr."""
    import traceback

    print_message("".join(traceback.format_exception(error)).rstrip("\n"), err=True)


class LiveText:
    """Streamed text on a terminal, only ever appended to."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._stream = VisibleStream()
        self.is_open = False
        """Whether the last line has no end yet."""

    def write(self, piece: str) -> None:
        """Show more of the text."""
        unfinished(self, is_there=True)
        self._put(self._stream.feed(piece))

    def close(self) -> None:
        """Show held back text, and end an open line."""
        self._put(self._stream.end())
        if self.is_open:
            self._put("\n")
        unfinished(self, is_there=False)

    def _put(self, shown: str) -> None:
        if shown:
            cleared()
            self._file.write(shown)
            self._file.flush()
            self.is_open = not shown.endswith("\n")
            occupy(self, is_there=self.is_open)


class LineWriter:
    """Lines for people on ``file``."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        """Write one line; further lines of a text are indented."""
        cleared()
        self._file.write(_indented(line) + "\n")
        self._file.flush()


def _echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    cleared()
    click.echo(text, err=err, nl=nl)


def _fitting(text: str, file: IO[str]) -> str:
    """``text`` as ``file`` shows it best: at a terminal its lines are broken between words."""
    if not file.isatty():
        return text
    return broken_between_words(text, columns_of(file))


def _styled(text: str, *, fg: str | None = None, bold: bool | None = None) -> str:
    """``text`` on one line, in colour or bold where the terminal is no dumb one."""
    shown = visible_line(text)
    return shown if os.environ.get("TERM") == "dumb" else click.style(shown, fg=fg, bold=bold)


def _writable(text: str) -> str:
    """``text`` with halves of surrogate pairs, which no stream takes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _indented(text: str) -> str:
    """``text``, visible, with further lines indented, so that none looks like a message of this program."""
    first, *others = visible(text).splitlines() or [""]
    return "\n".join([first, *(line if line[:1].isspace() else f"    {line}" for line in others)])


def arguments_text(arguments: Mapping[str, Any] | None) -> str:
    """``arguments`` of a call in one line; ``None`` is what is no JSON object."""
    if arguments is None:
        return "arguments that are no JSON object"
    return ", ".join(f"{key}={compact(value, 80)}" for key, value in arguments.items())


def compact(value: Any, width: int = 200) -> str:
    """``value`` as one line of JSON, cut at ``width`` characters with ``…``."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"
