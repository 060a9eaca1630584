"""docs/man/toolspan.1: the man page, made of the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from toolspan_bridge.cli.main import toolspan
from toolspan_bridge.cli.module_group import Verb

PATH = "docs/man/toolspan.1"


def page() -> str:
    """The whole page, in roff."""
    context = click.Context(toolspan, info_name="toolspan", **toolspan.context_settings)
    head = [
        '.TH TOOLSPAN 1 "" "Toolspan" "User Commands"',
        ".SH NAME",
        r"toolspan \- tools from one file: served over MCP, called by any model, validated",
        ".SH SYNOPSIS",
        r".B toolspan",
        r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(toolspan.help or ""),
        ".SH COMMANDS",
    ]
    return "\n".join([*head, *_commands(toolspan, context)]) + "\n"


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join([inner.command_path, *command.collect_usage_pieces(inner)])
        yield f".SS {_text(usage)}"
        if isinstance(command, Verb):
            yield from (".PP", "Example:", ".RS", rf"\fB{_text(command.example)}\fR", ".RE")
        yield from _paragraphs(command.help or "")
        yield from _options(command, inner)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield from (".TP", rf"\fB{_text(record[0])}\fR", _text(" ".join(record[1].split())))


def _paragraphs(text: str) -> Iterator[str]:
    """``text`` of a help page; a paragraph after ``\\b`` keeps its lines."""
    for block in text.replace("\f", "").split("\n\n"):
        yield ".PP"
        if "\b" in block:
            lines = (_text(line) for line in block.splitlines() if line.strip("\b "))
            yield from (".nf", *lines, ".fi")
        else:
            yield _text(" ".join(block.split()))


def _text(text: str) -> str:
    """``text`` that roff reads as text."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
