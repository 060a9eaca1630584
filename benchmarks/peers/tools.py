"""The three tools that every measured server serves."""

from __future__ import annotations

from typing import Any

from toolspan_server import Context, handler


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"text": arguments["text"]}


def add(arguments: dict[str, Any]) -> float:
    return arguments["a"] + arguments["b"]  # type: ignore[no-any-return]  # the schema says that both are numbers


def greet(arguments: dict[str, Any]) -> str:
    return f"Hello, {arguments['name']}!"


@handler("bench_echo")
async def _echo(arguments: dict[str, Any], _context: Context) -> dict[str, Any]:
    return echo(arguments)


@handler("bench_add")
async def _add(arguments: dict[str, Any], _context: Context) -> float:
    return add(arguments)


@handler("bench_greet")
async def _greet(arguments: dict[str, Any], _context: Context) -> str:
    return greet(arguments)
