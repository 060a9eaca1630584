"""Questions that are answered by a typed line: yes or no, or a text."""

from __future__ import annotations

import sys

import click

from ..output import print_message
from .typed_line import typed_line


def confirm(question: str) -> None:
    """Ask on stderr. Raises ``click.Abort`` for anything but yes."""
    if not asked_yes(question):
        raise click.Abort


def asked_yes(question: str) -> bool:
    """Ask on stderr whether; the default is no. Raises ``click.Abort`` when there is no answer."""
    while True:
        answer = typed_line(f"{question} [y/N]: ").strip().lower()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
        print_message("Please answer y or n.", err=True)


def agreed(question: str) -> bool:
    """Whether a person says yes on stderr; where nobody can be asked, it is no."""
    return sys.stdin.isatty() and sys.stderr.isatty() and asked_yes(question)


def ask_line(question: str) -> str:
    """A line that a person types, without blanks around it; empty for nothing. Raises ``click.Abort``."""
    try:
        return typed_line(f"{question}: ").strip()
    except click.Abort:
        print_message("", err=True)  # the question's line has no end yet
        raise
