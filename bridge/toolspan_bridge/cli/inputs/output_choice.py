"""How ``ask`` prints what comes of a question: for people, the answer alone, or as data."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

import click

from ...errors import UsageError

Output = Literal["text", "quiet", "json", "jsonl"]
"""``text`` for people; ``quiet`` the answer alone; ``json`` one object; ``jsonl`` a line for each event."""


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--quiet``, ``--json`` and ``--jsonl``, given to ``function`` as ``output``, and ``as_json`` where it
    is for a program."""

    @wraps(function)
    def chosen(*args: Any, quiet: bool, as_json: bool, as_jsonl: bool, **options: Any) -> Any:
        output: Output = "jsonl" if as_jsonl else "json" if as_json else "quiet" if quiet else "text"
        if quiet + as_json + as_jsonl > 1:
            raise UsageError("--quiet, --json and --jsonl are three ways to print one answer: write one")
        return function(*args, output=output, as_json=as_json or as_jsonl, **options)

    for option in (_jsonl, _json, _quiet):
        chosen = option(chosen)
    return chosen


_quiet = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Print the answer and nothing else; on stderr only what makes the exit code another than 0.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object on stdout.")
_jsonl = click.option(
    "--jsonl",
    "as_jsonl",
    is_flag=True,
    help="Print each event as a line of JSON as it happens; the last is the answer.",
)
