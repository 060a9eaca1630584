"""The options of ``validate`` that write a suite in place of running one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from ....errors import UsageError
from ....sessions.chosen.config import ConfigChoice
from ...inputs import completed
from ...inputs.validation.definition_options import DefinitionsChoice
from ...inputs.validation.recording import RecordingChoice
from ...inputs.validation.run_options import RunChoice

GENERATED = "generated-suite.yaml"
"""Where ``--generate`` writes without a FILE."""

_NO_RECORDING = RecordingChoice()
_NO_DEFINITIONS = DefinitionsChoice()
_NO_RUN = RunChoice()
_RUNS = {
    "models": "--model",
    "answers": "--answers",
    "reasoning": "--reasoning",
}
"""Options of a run, by parameter; none of them is of a suite that is written."""


def suite_writing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--generate``, ``--write-suite`` and their options: with one of the two a suite is written, and
    ``function`` is not called. For verbs that have ``config_options`` too."""

    @wraps(function)
    def chosen(
        *args: Any,
        choice: ConfigChoice,
        generate: str | None,
        write_suite: str | None,
        seed: int | None,
        generate_with: str | None,
        force: bool,
        **options: Any,
    ) -> Any:
        _check(generate, write_suite, {"--seed": seed, "--generate-with": generate_with}, force, options)
        if generate is not None:
            from .generate import generate_suite

            wanted = 1 if seed is None else seed
            as_json = bool(options.get("as_json"))
            return generate_suite(choice, generate, wanted, generate_with, force=force, as_json=as_json)
        if write_suite is not None:
            from .imported import write_named_suite

            return write_named_suite(_suite(options), write_suite, force=force)
        return function(*args, choice=choice, **options)

    for option in (_force, _with, _seed, _write, _generate):
        chosen = option(chosen)
    return chosen


def _check(
    generate: str | None,
    write_suite: str | None,
    of_generate: Mapping[str, object],
    force: bool,
    options: Mapping[str, Any],
) -> None:
    """Raise ``UsageError`` where options are given that do not go together."""
    if generate is None and (given := [name for name, value in of_generate.items() if value is not None]):
        raise UsageError(f"{given[0]} is of a generated suite: add --generate")
    if generate is None and write_suite is None:
        if force:
            raise UsageError("--force is of a suite that is written: add --generate or --write-suite")
        return
    if generate is not None and (write_suite is not None or _run(options).suites):
        raise UsageError("--generate makes a suite of tools: leave out --suite and --write-suite")
    definitions: DefinitionsChoice = options.get("definitions", _NO_DEFINITIONS)
    if definitions.output is not None and not definitions.compares:
        raise UsageError(
            "--output is the file for what --suggest proposes; that of a suite comes after its option: "
            f"--generate {definitions.output}, or --write-suite {definitions.output}"
        )
    ran = [name for key, name in _RUNS.items() if options.get(key)]
    ran += _run(options).given
    ran += ["--record or --replay"] if options.get("recording", _NO_RECORDING) != _NO_RECORDING else []
    ran += ["--against, --rename or --suggest"] if definitions != _NO_DEFINITIONS else []
    if ran:
        raise UsageError(f"{ran[0]} is of a run, and the suite is only written: leave it out")


def _run(options: Mapping[str, Any]) -> RunChoice:
    run: RunChoice = options.get("run", _NO_RUN)
    return run


def _suite(options: Mapping[str, Any]) -> str | None:
    suites = _run(options).suites
    if len(suites) > 1:
        raise UsageError("--write-suite writes one suite: name one --suite")
    return suites[0] if suites else None


_generate = click.option(
    "--generate",
    metavar="[FILE]",
    is_flag=False,
    flag_value=GENERATED,
    shell_complete=completed.files,
    help=f"Write a suite made of the tools to FILE ({GENERATED}; - is stdout), and run nothing.",
)
_write = click.option(
    "--write-suite",
    metavar="FILE",
    shell_complete=completed.files,
    help="Write the suite that --suite names to FILE as our YAML (- is stdout), and run nothing.",
)
_seed = click.option(
    "--seed", type=int, help="With --generate: the same tools and seed give the same suite. Default: 1."
)
_with = click.option(
    "--generate-with",
    metavar="PROVIDER/MODEL",
    shell_complete=completed.models,
    help="With --generate: a model that words the queries anew; what lacks a value keeps the plain words.",
)
_force = click.option("--force", is_flag=True, help="Write over a suite that was edited.")
