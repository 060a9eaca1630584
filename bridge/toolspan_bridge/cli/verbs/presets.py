"""``toolspan presets list|show|create|update|delete``: name instructions, a model and tools."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import click

from ...errors import UsageError
from ...messages import EFFORTS
from ...presets import DEFAULT_TOOLS, Preset, PresetStore, builtin_tools
from ...principals import LOCAL_USER
from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import opened
from ..host import TERMINAL
from ..inputs import completed
from ..inputs.options import config_options, json_option, workspace_option
from ..module_group import SubcommandGroup
from ..terminal.output import compact, emit_json, emit_table, print_message, print_note

_F = TypeVar("_F", bound=Callable[..., Any])


@click.group(name="presets", cls=SubcommandGroup, example="toolspan presets list")
def command() -> None:
    """Keep presets: instructions, a model, how much it thinks and the tools that it may use, under a name.

    `ask` and `chat` take one with --preset NAME. They are this user's, whatever the folder.
    """


def _record_options(function: _F) -> _F:
    instructions = click.option("--instructions", metavar="TEXT", help="The system prompt.")
    file = click.option(
        "--instructions-file", "file", metavar="FILE", help="The same from a file; - reads stdin."
    )
    model = click.option(
        "-m",
        "--model",
        metavar="PROVIDER/MODEL",
        help="Who answers, or best for the cheapest validated one; as without a preset when empty.",
    )
    level = click.option(
        "--reasoning", "level", type=click.Choice(EFFORTS), help="How much the model thinks; medium at first."
    )
    tools = click.option(
        "--tool",
        "tools",
        multiple=True,
        metavar="NAME",
        help="A tool that the model may use: a server's, the calculator, or one of the provider's own; "
        f"may repeat, and replaces all. At first: {', '.join(DEFAULT_TOOLS)}.",
    )
    return instructions(file(model(level(tools(function)))))


@command.command(name="list", example="toolspan presets list --json")
@json_option
def list_(as_json: bool) -> None:
    """List the presets."""
    found = PresetStore(LOCAL_USER).all()
    if as_json:
        emit_json({"presets": [preset.as_dict() for preset in found]})
        return
    if not found:
        print_note("there are no presets yet: toolspan presets create NAME makes one")
        return
    rows = [
        (each.name, each.model, each.default_reasoning_level, ", ".join(each.enabled_tools)) for each in found
    ]
    emit_table(("preset", "model", "reasoning", "tools"), rows)


@command.command(name="show", example="toolspan presets show reviewer")
@click.argument("name", shell_complete=completed.presets)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show one preset, by its name or id."""
    _show(PresetStore(LOCAL_USER).get(name), as_json=as_json)


@command.command(name="create", example='toolspan presets create reviewer --instructions "Review it."')
@click.argument("name", shell_complete=completed.presets)
@_record_options
@config_options
@workspace_option
@json_option
def create(
    name: str,
    instructions: str | None,
    file: str | None,
    model: str | None,
    level: str | None,
    tools: tuple[str, ...],
    choice: ConfigChoice,
    as_json: bool,
) -> None:
    """Create a preset. Tools that are not built in have to be there: in the config here, that of --config, or
    a workspace.
    """
    preset = PresetStore(LOCAL_USER).create(
        name,
        instructions=_instructions(instructions, file) or "",
        model=model or "",
        default_reasoning_level=level or "medium",
        enabled_tools=tools or DEFAULT_TOOLS,
        known_tools=_known_tools(tools, choice),
    )
    _show(preset, as_json=as_json)


@command.command(name="update", example="toolspan presets update reviewer -m ollama/qwen3:8b")
@click.argument("name", shell_complete=completed.presets)
@click.option("--name", "new_name", metavar="NAME", help="Another name.")
@_record_options
@config_options
@workspace_option
@json_option
def update(
    name: str,
    new_name: str | None,
    instructions: str | None,
    file: str | None,
    model: str | None,
    level: str | None,
    tools: tuple[str, ...],
    choice: ConfigChoice,
    as_json: bool,
) -> None:
    """Change what is given of a preset, by its name or id."""
    preset = PresetStore(LOCAL_USER).update(
        name,
        new_name=new_name,
        instructions=_instructions(instructions, file),
        model=model,
        default_reasoning_level=level,
        enabled_tools=tools or None,
        known_tools=_known_tools(tools, choice),
    )
    _show(preset, as_json=as_json)


@command.command(name="delete", example="toolspan presets delete reviewer")
@click.argument("name", shell_complete=completed.presets)
@json_option
def delete(name: str, as_json: bool) -> None:
    """Delete a preset, by its name or id."""
    gone = PresetStore(LOCAL_USER).delete(name)
    if as_json:
        emit_json({"deleted": gone.as_dict()})
    else:
        print_note(f"the preset {gone.name} is deleted")


def _show(preset: Preset, *, as_json: bool) -> None:
    if as_json:
        emit_json(preset.as_dict())
        return
    lines = [
        f"{preset.name} (id {preset.id})",
        f"model: {preset.model or 'as without a preset'}",
        f"reasoning: {preset.default_reasoning_level}",
        f"tools: {', '.join(preset.enabled_tools)}",
        f"created: {_day(preset.created_at)}, updated: {_day(preset.updated_at)}",
    ]
    print_message("\n".join([*lines, *(["", preset.instructions] if preset.instructions else [])]))


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _instructions(text: str | None, file: str | None) -> str | None:
    if file is None:
        return text
    if text is not None:
        raise UsageError("--instructions and --instructions-file are both given: keep one")
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(f"--instructions-file {file}: cannot be read: {reason}") from None


def _known_tools(wanted: tuple[str, ...], choice: ConfigChoice) -> tuple[str, ...]:
    """The tools of the config's servers, if any of ``wanted`` is not built in; else nothing is connected."""
    if all(name in builtin_tools() for name in wanted):
        return ()

    async def listed() -> tuple[str, ...]:
        async with opened(choice, TERMINAL) as session:
            return tuple(tool.name for tool in session.toolbox.tools)

    known = anyio.run(listed)
    if any(name not in (*known, *builtin_tools()) for name in wanted):
        print_note(f"there are the tools {compact(', '.join((*builtin_tools(), *known)), 1_000)}")
    return known
