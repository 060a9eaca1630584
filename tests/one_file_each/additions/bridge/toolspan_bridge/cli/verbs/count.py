"""``toolspan count``: how many characters a text has."""

from __future__ import annotations

import click

from ..inputs.options import json_option
from ..terminal.output import emit_json, print_message


@click.command(name="count", short_help="Count the characters of a text.")
@click.argument("text")
@json_option
def command(text: str, as_json: bool) -> None:
    """Count the characters of TEXT."""
    if as_json:
        emit_json({"characters": len(text)})
    else:
        print_message(f"{len(text)} characters")
