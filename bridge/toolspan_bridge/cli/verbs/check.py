"""``toolspan check``: check a config file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import anyio
import click

from toolspan_server.config import (
    Config,
    contents,
    counted,
    refusal,
)

from ...errors import ConsentError, UsageError
from ...messages import ToolSpec
from ...providers import own_providers
from ...routes import toolless_notes
from ...sessions.chosen.config import ConfigChoice, whole_config
from ...trust.invisible_text import invisible_text_notes
from ..examples import ExampleOutcome, run_examples
from ..host import TERMINAL
from ..inputs.options import config_options, json_option, read_config
from ..module_group import Verb
from ..terminal.output import emit_json, print_message, print_note

EXIT_TOOL_ERROR = 5


@click.command(name="check", cls=Verb, example="toolspan check -c toolspan.yaml --run-examples")
@config_options
@click.option("--run-examples", is_flag=True, help="Also call the examples of the tools, on a real server.")
@json_option
def command(choice: ConfigChoice, run_examples: bool, as_json: bool) -> int:
    """Check a config file: every error at once, with its place and what to do. Exit 2 when there is one.

    Nothing that the config brings is run: the modules of its handlers and hooks are read, not imported. With
    --trust they are imported, and what they say of themselves is checked too.

    With --run-examples every example of a tool is called as well, and its result compared; exit 5 when one
    gives something else. An example of a tool that needs a person's approval is left out.
    """
    config = whole_config(choice, TERMINAL, import_handlers=choice.trust)
    own_providers(config)  # refuses the name of a known provider
    _check_hooks(config, run=choice.trust)
    outcomes = anyio.run(_outcomes, _with_examples(config, choice), choice) if run_examples else []
    failed = [outcome for outcome in outcomes if outcome.ok is False]
    if as_json:
        ran = {"examples": [outcome.as_dict() for outcome in outcomes]} if run_examples else {}
        emit_json({"ok": not failed, **_described(config), **ran})
    else:
        _show(config)
        if run_examples:
            _show_examples(outcomes)
    return EXIT_TOOL_ERROR if failed else 0


def _with_examples(config: Config, choice: ConfigChoice) -> Config:
    """The config whose examples are called: of one that nobody trusts, what is inert. Raises
    ``ConsentError`` where it has no tool then."""
    used = read_config(choice)
    if used.withheld and config.tools.registry and not used.tools.registry:
        raise ConsentError(refusal(used.withheld))
    return used


def _check_hooks(config: Config, *, run: bool) -> None:
    """Raises ``UsageError`` for hooks that can never run; their files are only read, unless ``run``."""
    if not config.hooks:
        return
    from ...loop.hooks import hook_faults, hooks_of

    if faults := hook_faults(config):
        raise UsageError("\n".join(f"{config.files[0]}: {fault}" for fault in faults))
    if run:
        hooks_of(config)


async def _outcomes(config: Config, choice: ConfigChoice) -> list[ExampleOutcome]:
    return await run_examples(config, skip_invalid=choice.skip_invalid, pinned=not choice.is_named)


def _described(config: Config) -> dict[str, Any]:
    return {
        "files": [str(path) for path in config.files],
        **contents(config),
        "tools": [
            {"name": tool.name, "kind": tool.implementation.type, "description": tool.description}
            for tool in config.tools.registry
        ],
        "skipped": [asdict(problem) for problem in config.skipped],
        "unchecked": list(config.unchecked),
        "warnings": [*invisible_text_notes(_specs(config)), *toolless_notes(config)],
    }


def _specs(config: Config) -> list[ToolSpec]:
    """The config's tools as models will see them, as far as the config shows."""
    return [
        ToolSpec(config.name, tool.name, tool.description, dict(tool.parameters))
        for tool in config.tools.registry
    ]


def _show(config: Config) -> None:
    for path in config.files:
        print_message(f"{path}: ok")
    there = contents(config)
    there["tools"] = [f"{tool.name} ({tool.implementation.type})" for tool in config.tools.registry]
    lines = [f"{counted(sort, len(names))}: {', '.join(names)}" for sort, names in there.items() if names]
    print_message("\n".join(lines or ["no tools"]))
    for text in (*invisible_text_notes(_specs(config)), *toolless_notes(config)):
        print_note(text)
    if config.unchecked:
        names = ", ".join(config.unchecked)
        print_note(
            f"read, but not imported: {names} (--trust imports them, and checks their handlers' options)"
        )
    if not config.tools.enabled:
        print_note("tools.enabled is false: none of these tools is served")


def _show_examples(outcomes: list[ExampleOutcome]) -> None:
    words = {True: "ok", False: "failed", None: "left out"}
    for outcome in outcomes:
        about = f" ({outcome.description})" if outcome.description else ""
        reason = f": {outcome.reason}" if outcome.reason else ""
        print_message(f"{outcome.tool}, example {outcome.number}{about}: {words[outcome.ok]}{reason}")
    good = sum(outcome.ok is True for outcome in outcomes)
    print_message(f"{good} of {len(outcomes)} examples are right" if outcomes else "no tool has examples")
