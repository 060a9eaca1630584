"""What verbs print: data on stdout, everything else on stderr."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` is among ``arguments``, so that even a usage error is told as JSON."""
    return "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments


def emit_json(data: Any) -> None:
    """Print ``data`` as JSON on stdout."""
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """Say ``text`` on stderr."""
    click.echo(f"toolspan: {text}", err=True)


def compact(value: Any, width: int = 200) -> str:
    """``value`` as one line of JSON, cut at ``width`` characters with ``…``."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"
