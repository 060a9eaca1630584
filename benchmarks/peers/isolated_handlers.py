"""Handlers of ``benchmarks.isolation``: a plain function, for a thread or a worker process."""

from __future__ import annotations

from typing import Any

from toolspan_server import Context, handler


@handler("bench_answer")
def answer(arguments: dict[str, Any], _context: Context) -> str:
    """As many characters as asked for."""
    return "x" * int(arguments["size"])
