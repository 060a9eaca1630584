"""``toolspan check``: is the config right, and do its tools what its examples say?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import anyio
import click

from toolspan_server.config import Config, contents, counted

from ..providers import own_providers
from ._examples import ExampleOutcome, run_examples
from ._options import config_options, json_option, read_config
from ._output import emit_json, note

EXIT_TOOL_ERROR = 5


@click.command(name="check", short_help="Check a config file.")
@config_options
@click.option("--run-examples", is_flag=True, help="Also call the examples of the tools, on a real server.")
@json_option
def command(config_paths: tuple[str, ...], skip_invalid: bool, run_examples: bool, as_json: bool) -> int:
    """Check a config file: every error at once, with its place and what to do. Exit 2 when there is one.

    With --run-examples every example of a tool is called as well, and its result compared; exit 5 when one
    gives something else. An example of a tool that needs a person's approval is left out.
    """
    config = read_config(config_paths, skip_invalid=skip_invalid)
    own_providers(config)  # refuses the name of a known provider
    outcomes = anyio.run(_outcomes, config, skip_invalid) if run_examples else []
    failed = [outcome for outcome in outcomes if outcome.ok is False]
    if as_json:
        ran = {"examples": [outcome.as_dict() for outcome in outcomes]} if run_examples else {}
        emit_json({"ok": not failed, **_described(config), **ran})
    else:
        _show(config)
        if run_examples:
            _show_examples(outcomes)
    return EXIT_TOOL_ERROR if failed else 0


async def _outcomes(config: Config, skip_invalid: bool) -> list[ExampleOutcome]:
    return await run_examples(config, skip_invalid=skip_invalid)


def _described(config: Config) -> dict[str, Any]:
    return {
        "files": [str(path) for path in config.files],
        **contents(config),
        "tools": [
            {"name": tool.name, "kind": tool.implementation.type, "description": tool.description}
            for tool in config.tools.registry
        ],
        "skipped": [asdict(problem) for problem in config.skipped],
    }


def _show(config: Config) -> None:
    for path in config.files:
        click.echo(f"{path}: ok")
    there = contents(config)
    there["tools"] = [f"{tool.name} ({tool.implementation.type})" for tool in config.tools.registry]
    lines = [f"{counted(sort, len(names))}: {', '.join(names)}" for sort, names in there.items() if names]
    click.echo("\n".join(lines or ["no tools"]))
    if not config.tools.enabled:
        note("tools.enabled is false: none of these tools is served")


def _show_examples(outcomes: list[ExampleOutcome]) -> None:
    words = {True: "ok", False: "failed", None: "left out"}
    for outcome in outcomes:
        about = f" ({outcome.description})" if outcome.description else ""
        reason = f": {outcome.reason}" if outcome.reason else ""
        click.echo(f"{outcome.tool}, example {outcome.number}{about}: {words[outcome.ok]}{reason}")
    good = sum(outcome.ok is True for outcome in outcomes)
    click.echo(f"{good} of {len(outcomes)} examples are right" if outcomes else "no tool has examples")
