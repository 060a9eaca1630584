"""The limits of sub-agents, which the tool ``Task`` starts."""

from __future__ import annotations

from ..schema.keys import NARROWER, at_most
from ..schema.records import Record, key
from ..schema.values import Amount, Count, Duration, Iterations


class SubagentLimits(Record):
    """What each sub-agent may use. An error that hits a limit names it."""

    depth: Count = key(
        "How deep sub-agents may be: at 1 none of them starts another.", default=1, inert=at_most(1)
    )
    iterations: Iterations = key(
        "Most turns in which its model may call tools.", default=30, inert=at_most(30)
    )
    calls: Count = key("Most tool calls that it makes.", default=100, inert=at_most(100))
    tokens: Count = key(
        "Most tokens, in and out, of all its requests together.", default=1_000_000, inert=at_most(1_000_000)
    )
    usd: Amount | None = key(
        "Most US dollars, by the table of prices, in ask and chat.", default=None, inert=NARROWER
    )
    seconds: Duration = key(
        "Longest time in seconds, without the time in which a person is asked.",
        default=600,
        inert=at_most(600),
    )
