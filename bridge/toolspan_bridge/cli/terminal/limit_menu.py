"""The menu at a limit: go on without it, with so much more, with a last answer, or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...loop import AtLimit, LimitChoice, LimitReached
from ...loop.limits import amount_of
from .choices import print_choices
from .output import print_coloured
from .questions.one_question import has_terminal, one_question, read_key, read_line

__all__ = ["limit_menu"]

_UNITS = {"calls": "calls", "tokens": "tokens", "usd": "US dollars", "seconds": "seconds"}
_WITHOUT_NUMBER = ("repeats", "repair_attempts")


def limit_menu(before: Callable[[], None]) -> AtLimit | None:
    """Asks the person at the terminal at each limit, once ``before`` was called; ``None`` where there is no
    terminal."""
    if not has_terminal():
        return None

    async def ask(reached: LimitReached) -> LimitChoice:
        before()
        try:
            async with one_question():
                return await _chosen(reached)
        except EOFError:
            return "wrap_up" if reached.has_room else "stop"

    return ask


async def _chosen(reached: LimitReached) -> LimitChoice:
    keys = _keys(reached)
    print_coloured([(reached.what, "yellow")])
    while True:
        print_choices(keys)
        key = await read_key("at the limit? ", keys)
        if (choice := await _choice(key, reached)) is not None:
            return choice


def _keys(reached: LimitReached) -> dict[str, str]:
    keys = {"c": "continue, for this answer without the limit"}
    if reached.name not in _WITHOUT_NUMBER:
        keys["n"] = "a number more"
    if reached.has_room:
        keys["w"] = "wrap up: a last answer, without tools"
    return keys | {"s": "stop here"}


async def _choice(key: str, reached: LimitReached) -> LimitChoice | None:
    if key == "n":
        unit = _UNITS.get(reached.name, "turns with tools")
        text = await read_line(
            f"how many {unit} more? ", f"{reached.limit:g}", lambda text: _fault(reached, text)
        )
        return amount_of(reached.name, text)
    known: dict[str, LimitChoice] = {"c": math.inf, "w": "wrap_up", "s": "stop"}
    return known[key]


def _fault(reached: LimitReached, text: str) -> str:
    return "" if amount_of(reached.name, text) is not None else "write a number above 0, a whole one of calls"
