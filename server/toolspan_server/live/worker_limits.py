"""Limits that apply to each worker process separately."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..config import Config

_NAMED = 3


def kept_apart(config: Config) -> Iterator[str]:
    """Differences of ``config`` with several workers, each a line for the operator."""
    tools = config.tools.registry if config.tools.enabled else ()
    if tasks := [tool.name for tool in tools if tool.task is not None]:
        yield (
            f"a task is known only to the worker that made it ({_listed(tasks)}): "
            "for clients that ask another one it does not exist; serve these tools with one worker"
        )
    if config.aggregate is not None:
        yield (
            "a task that a server of the aggregate makes of a call is known only to the worker that got it: "
            "for clients that ask another one it does not exist; serve such servers with one worker"
        )
    if limited := [tool.name for tool in tools if tool.rate_limit is not None]:
        yield f"each worker applies rate_limit to its own calls ({_listed(limited)})"
    if counting := [tool.name for tool in tools if tool.implementation.counts_calls]:
        yield f"each worker counts calls and draws lots by itself ({_listed(counting)})"


def _listed(names: Iterable[str]) -> str:
    all_of_them = list(names)
    rest = len(all_of_them) - _NAMED
    return ", ".join(all_of_them[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
