"""The options that limit what a question, and a conversation, may use."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from ...sessions.chosen.limits import LimitChoice

if TYPE_CHECKING:
    pass

NAMES = ("calls", "tokens", "usd", "seconds")
"""The limits of a question, and of a conversation."""


def limit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--max-iterations``, ``--max-calls``, ``--max-total-tokens``, ``--max-cost``, ``--max-seconds`` and
    ``--conversation-limit``, given to ``function`` as ``limits``."""

    @wraps(function)
    def limited(
        *args: Any,
        max_iterations: int | None,
        max_calls: int | None,
        max_total_tokens: int | None,
        max_cost: float | None,
        max_seconds: float | None,
        conversation_limit: tuple[str, ...],
        **options: Any,
    ) -> Any:
        given = zip(NAMES, (max_calls, max_total_tokens, max_cost, max_seconds), strict=True)
        question: dict[str, float | None] = {name: value for name, value in given if value is not None}
        whole = dict(_read(text) for text in conversation_limit)
        limits = LimitChoice(question, whole, max_iterations)
        return function(*args, limits=limits, **options)

    for option in reversed(_OPTIONS):
        limited = option(limited)
    return limited


def _read(text: str) -> tuple[str, float | None]:
    from ...loop.limits import amount_of

    name, _, written = text.partition("=")
    value = amount_of(name, written)
    if name not in NAMES or value is None:
        raise UsageError(
            f"--conversation-limit: {text!r} must be NAME=NUMBER, a name of {', '.join(NAMES)} and a number "
            "above 0, as in calls=50 or usd=1.50"
        )
    return name, value


_MORE = click.FloatRange(min=0, min_open=True)
_OPTIONS = (
    click.option(
        "--max-iterations",
        metavar="N",
        type=click.IntRange(1, 1000),
        help="In how many turns the model may call tools; wins over tools.max_iterations and the route's.",
    ),
    click.option(
        "--max-calls",
        metavar="N",
        type=click.IntRange(min=1),
        help="Most tool calls for a question; then the model answers with what it has.",
    ),
    click.option(
        "--max-total-tokens",
        metavar="N",
        type=click.IntRange(min=1),
        help="Most tokens for a question, in and out, of all its requests together.",
    ),
    click.option(
        "--max-cost",
        metavar="USD",
        type=_MORE,
        help="Most US dollars for a question; refused for a model whose price is not known.",
    ),
    click.option("--max-seconds", metavar="S", type=_MORE, help="Longest time for a question, in seconds."),
    click.option(
        "--conversation-limit",
        metavar="NAME=NUMBER",
        multiple=True,
        help="The same for the whole conversation, also a resumed one: calls, tokens, usd or seconds.",
    ),
)
