"""Which definitions of tools a validation compares: options of ``toolspan validate``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from ....errors import UsageError
from .. import completed
from .run_options import RunChoice

__all__ = ["DefinitionsChoice", "definition_options"]


@dataclass(frozen=True, slots=True)
class DefinitionsChoice:
    """The config ``against`` whose tools those of the config are compared, with what it calls them otherwise
    (``renames``); or whether to ``suggest`` rewordings, by a model (``suggest_by``) or by rules, which are
    written to ``output``."""

    against: str | None = None
    renames: tuple[str, ...] = ()
    suggest: bool = False
    suggest_by: str | None = None
    output: str | None = None

    @property
    def suggests(self) -> bool:
        """Whether rewordings are to be suggested."""
        return self.suggest or self.suggest_by is not None

    @property
    def compares(self) -> bool:
        """Whether definitions are compared at all."""
        return self.suggests or self.against is not None

    def check(self, run: RunChoice, answers: str | None) -> None:
        """Raise ``UsageError`` for options that do not go together."""
        if self.renames and self.against is None:
            raise UsageError("--rename says what tools are called in the config of --against: give that too")
        if self.output is not None and not self.suggests:
            raise UsageError("--output is the file for what --suggest proposes: give that too")
        if self.suggests and self.against is not None:
            raise UsageError("--suggest and --against are two runs: give one of them")
        if self.compares and run.queue:
            raise UsageError(
                "--against and --suggest run here, with tools that no worker has: leave out --queue"
            )
        if self.compares and run.batch:
            raise UsageError("--against and --suggest are several runs: leave out --batch")
        others = run.wordings or run.quick or run.baseline or answers or len(run.suites) > 1
        if self.compares and others:
            raise UsageError(
                "--against and --suggest run one suite, and no more: leave out --answers, --wordings, "
                "--quick and --baseline, and name one --suite"
            )


def definition_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--against``, ``--rename``, ``--suggest``, ``--suggest-with`` and ``--output``, given to ``function``
    as ``definitions``."""

    @wraps(function)
    def chosen(
        *args: Any,
        against: str | None,
        renames: tuple[str, ...],
        suggest: bool,
        suggest_by: str | None,
        output: str | None,
        **options: Any,
    ) -> Any:
        choice = DefinitionsChoice(against, renames, suggest, suggest_by, output)
        return function(*args, definitions=choice, **options)

    for option in reversed(_OPTIONS):
        chosen = option(chosen)
    return chosen


_OPTIONS = (
    click.option(
        "--against",
        metavar="CONFIG",
        shell_complete=completed.files,
        help="Run the suite with the tools of this config, too, and compare: the difference with its "
        "interval, and an exact test. Exit 6 when a model is worse with them by more than chance.",
    ),
    click.option(
        "--rename",
        "renames",
        multiple=True,
        metavar="TOOL=NAME",
        help="What a tool, or TOOL.PARAMETER, is called in the config of --against; may repeat.",
    ),
    click.option(
        "--suggest",
        is_flag=True,
        help="Propose other descriptions from the failures of one half of the suite, by rules, and test them "
        "on the other half. No config is changed.",
    ),
    click.option(
        "--suggest-with",
        "suggest_by",
        metavar="PROVIDER/MODEL",
        help="The same by a model, which is told the tools and the failures.",
    ),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        shell_complete=completed.files,
        help="Write what --suggest proposes: a .yaml FILE is the config with it, comments kept; a .patch "
        "FILE changes the configs by `git apply`; any other is JSON.",
    ),
)
