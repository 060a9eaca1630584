"""What a validation is to run, and how: the options of ``toolspan validate`` for that."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
from typing_extensions import override

from ....validation.runs.modes import Mode
from .. import completed

__all__ = ["SECONDS", "RunChoice", "run_options"]

_NAMES = {"modes": "mode"}
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_SECONDS = 30 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class RunChoice:
    """What is run: ``suites`` as they are named, each scenario ``trials`` times, each model in ``modes``; how
    many at once; from which ``threshold`` it passes; and what ends it early. ``None`` is what is usual."""

    suites: tuple[str, ...] = ()
    trials: int = 1
    modes: tuple[Mode, ...] = ()
    wordings: bool = False
    threshold: float | None = None
    concurrency: int | None = None
    timeout: float | None = None
    max_cost: float | None = None
    max_time: float | None = None
    fresh: bool = False
    quick: bool = False
    baseline: Path | None = None
    queue: str = ""
    detach: bool = False
    batch: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """The options that were given, but for ``--suite``."""
        usual = RunChoice()
        return tuple(
            f"--{_NAMES.get(each.name, each.name.replace('_', '-'))}"
            for each in fields(self)
            if each.name != "suites" and getattr(self, each.name) != getattr(usual, each.name)
        )


class _Seconds(click.ParamType[float]):
    """A time such as ``90``, ``90s``, ``10m`` or ``1.5h``, in seconds."""

    name = "time"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(s|m|h|)", str(value).strip())
        seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
        if not 0 < seconds <= _MOST_SECONDS:
            self.fail(f"{value!r} is no time: write seconds, or as in 90s, 10m or 1.5h (up to 720h)", param)
        return seconds


SECONDS = _Seconds()
"""A time, in seconds, as options take it."""


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of what is run, given to ``function`` as ``run``."""

    @wraps(function)
    def chosen(
        *args: Any,
        suites: tuple[str, ...],
        trials: int,
        modes: tuple[str, ...],
        wordings: bool,
        threshold: float | None,
        concurrency: int | None,
        timeout: float | None,
        max_cost: float | None,
        max_time: float | None,
        fresh: bool,
        quick: bool,
        baseline: Path | None,
        queue: str,
        detach: bool,
        batch: bool,
        **options: Any,
    ) -> Any:
        native: tuple[Mode, ...] = ("native",) if {"native", "all"} & set(modes) else ()
        prompt: tuple[Mode, ...] = ("prompt",) if {"prompt", "all"} & set(modes) else ()
        limits = (threshold, concurrency, timeout, max_cost, max_time)
        run = RunChoice(
            suites, trials, native + prompt, wordings, *limits, fresh, quick, baseline, queue, detach, batch
        )
        return function(*args, run=run, **options)

    for option in reversed(_OPTIONS):
        chosen = option(chosen)
    return chosen


_OPTIONS = (
    click.option(
        "--suite",
        "suites",
        multiple=True,
        metavar="FILE",
        shell_complete=completed.files,
        help="A YAML suite; or bfcl:PATH, a file or folder of the Berkeley Function-Calling Leaderboard; or "
        "promptfoo:FILE, testmcpy:FILE, inspect:FILE; may repeat. Default: the four built-in scenarios.",
    ),
    click.option("--trials", default=1, show_default=True, help="How often each scenario is asked."),
    click.option(
        "--mode",
        "modes",
        type=click.Choice(("native", "prompt", "all")),
        multiple=True,
        help="Ask each model by its native calls, with the tools in a prompt, or both; may repeat. Default: "
        "as the model is written.",
    ),
    click.option(
        "--wordings",
        is_flag=True,
        help="Try each model by its native calls, in each rendering of those that it writes as text, and by "
        "each wording of the prompt, and choose the best rendering and wording.",
    ),
    click.option(
        "--threshold",
        type=float,
        help="The share of trials that must succeed. Default: the config's validation.threshold, else 0.8.",
    ),
    click.option(
        "--concurrency",
        metavar="N",
        type=click.IntRange(1, 1000),
        help="How many trials run at once of each provider; 1: one after another. Default: the config's "
        "validation.concurrency, else 16, and 2 for models on this machine or network.",
    ),
    click.option(
        "--timeout",
        metavar="TIME",
        type=SECONDS,
        help="Longest time for a trial, such as 90s; waits for a rate limit do not count. Default: 120s.",
    ),
    click.option(
        "--max-cost",
        metavar="USD",
        type=click.FloatRange(min=0, min_open=True),
        help="Most US dollars for all trials; no request is sent that may cost more than is left.",
    ),
    click.option(
        "--max-time",
        metavar="TIME",
        type=SECONDS,
        help="End the run after a time such as 90s, 10m or 1.5h.",
    ),
    click.option(
        "--fresh",
        is_flag=True,
        help="Begin a new run, also where an earlier one of the same trials was not finished.",
    ),
    click.option(
        "--quick",
        is_flag=True,
        help="A first answer within a minute: at most 20 of the scenarios, spread over suites and tags, one "
        "trial each.",
    ),
    click.option(
        "--baseline",
        metavar="FILE",
        type=click.Path(path_type=Path),
        shell_complete=completed.files,
        help="Compare with an earlier `report --format json`; exit 6 when a model or scenario is worse by "
        "more than chance.",
    ),
    click.option(
        "--queue",
        metavar="URL",
        default="",
        help="Put the trials on a queue, postgresql://USER:PASSWORD@HOST/NAME, for `toolspan worker` to make "
        "them, on any machines. They are kept there too, unless a store is named.",
    ),
    click.option(
        "--detach",
        is_flag=True,
        help="With --queue: leave once the trials are put, and do not follow the run.",
    ),
    click.option(
        "--batch",
        is_flag=True,
        help="Ask by the batch services of the models' providers: each turn of all trials is a batch, "
        "within a day and at about half the price. The same command comes back to batches that still run.",
    ),
)
