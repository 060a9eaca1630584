"""What verbs print: data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` is among ``arguments``, so that even a usage error is told as JSON."""
    return "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments


def emit_json(data: Any) -> None:
    """Print ``data`` as JSON on stdout."""
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


def emit_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table for people, its cells taken literally."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def emit_bytes(data: bytes) -> None:
    """Put ``data`` on stdout as it is; at a terminal, a line break after it."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode())
        return
    sys.stdout.flush()
    binary.write(data + b"\n" if sys.stdout.isatty() else data)
    binary.flush()


def note(text: str) -> None:
    """Say ``text`` on stderr."""
    click.echo(f"toolspan: {text}", err=True)


def compact(value: Any, width: int = 200) -> str:
    """``value`` as one line of JSON, cut at ``width`` characters with ``…``."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"
