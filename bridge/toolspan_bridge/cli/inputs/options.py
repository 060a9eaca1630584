"""Options that several verbs share, and the config that they select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from toolspan_server.config import DEFAULT_FILES, Config

from ...client import LOG_LEVELS
from ...messages import EFFORTS
from ...sessions.chosen.config import ConfigChoice, config_of
from ...sessions.chosen.tool_globs import ToolGlobs
from ..host import TERMINAL
from . import completed

_F = TypeVar("_F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print data as JSON on stdout.")


def config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--config``, ``--skip-invalid`` and ``--trust``, given to ``function`` as ``choice``."""

    @wraps(function)
    def chosen(
        *args: Any, config_paths: tuple[str, ...], skip_invalid: bool, trust: bool, **options: Any
    ) -> Any:
        return function(*args, choice=ConfigChoice(config_paths, skip_invalid, trust), **options)

    paths = click.option(
        "-c",
        "--config",
        "config_paths",
        multiple=True,
        metavar="FILE",
        shell_complete=completed.files,
        help="A config file; may repeat. Default: $TOOLSPAN_CONFIG, else " + ", ".join(DEFAULT_FILES) + ".",
    )
    skip = click.option("--skip-invalid", is_flag=True, help="Leave out tools with errors, and list them.")
    return paths(skip(trust_option(chosen)))


def workspace_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--workspace``, given to ``function`` in ``choice``: for verbs that have ``config_options`` too."""

    @wraps(function)
    def chosen(*args: Any, choice: ConfigChoice, workspace: Path | None, **options: Any) -> Any:
        return function(*args, choice=replace(choice, workspace=workspace), **options)

    return click.option(
        "--workspace",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="A folder in which tools may read, search and change files, in addition to the config's tools.",
    )(chosen)


def locked_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--locked``, given to ``function`` in ``choice``: for verbs that have ``config_options`` too."""

    @wraps(function)
    def chosen(*args: Any, choice: ConfigChoice, locked: bool, **options: Any) -> Any:
        return function(*args, choice=replace(choice, locked=locked), **options)

    return click.option(
        "--locked",
        is_flag=True,
        help="Use only tools whose definitions are those in toolspan.lock; others are named and left out.",
    )(chosen)


def tool_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--tool`` and ``--no-tool``, given to ``function`` in ``choice``: for verbs that have
    ``config_options`` too."""

    @wraps(function)
    def chosen(
        *args: Any, choice: ConfigChoice, tool: tuple[str, ...], no_tool: tuple[str, ...], **options: Any
    ) -> Any:
        return function(*args, choice=replace(choice, tools=ToolGlobs(tool, no_tool)), **options)

    wanted = click.option(
        "--tool",
        multiple=True,
        metavar="GLOB",
        shell_complete=completed.tools,
        help="Use only these tools: a glob of names, as Read or files/*, the server before the slash; may "
        "repeat.",
    )
    unwanted = click.option(
        "--no-tool",
        multiple=True,
        metavar="GLOB",
        shell_complete=completed.tools,
        help="Use all but these tools; may repeat.",
    )
    return wanted(unwanted(chosen))


def servers_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--server``, which may repeat, given to ``function`` in ``choice``: for verbs that have
    ``config_options`` too."""

    @wraps(function)
    def chosen(*args: Any, choice: ConfigChoice, server: tuple[str, ...], **options: Any) -> Any:
        return function(*args, choice=replace(choice, servers=server), **options)

    return click.option(
        "--server",
        multiple=True,
        metavar="COMMAND|URL",
        help="An MCP server beside those of --config: a command line, as 'npx some-server', or a URL; may "
        "repeat. No other config is looked for.",
    )(chosen)


def debug_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--debug``, given to ``function`` in ``choice``: for verbs that have ``config_options`` too."""

    @wraps(function)
    def chosen(*args: Any, choice: ConfigChoice, debug: bool, **options: Any) -> Any:
        return function(*args, choice=replace(choice, debug=debug), **options)

    return click.option(
        "--debug",
        is_flag=True,
        help="Show on stderr what goes to and comes from models and servers, without secrets.",
    )(chosen)


def trust_option(function: _F) -> _F:
    """``--trust``."""
    return click.option(
        "--trust",
        is_flag=True,
        help="Trust the config and .mcp.json found here, for this command: without it, only what is inert is "
        "used.",
    )(function)


def server_option(function: _F) -> _F:
    """``--server``."""
    return click.option(
        "--server",
        metavar="COMMAND|URL",
        help="Any MCP server instead of a config's: a command line, as 'npx some-server', or a URL.",
    )(function)


def model_option(function: _F) -> _F:
    """``--model``."""
    return click.option(
        "-m",
        "--model",
        metavar="PROVIDER/MODEL",
        shell_complete=completed.models,
        help="Who answers. Default: $TOOLSPAN_MODEL, else the matching route's model, else the user's (see "
        "models --default), else offline/keyword.",
    )(function)


def reasoning_option(function: _F) -> _F:
    """``--reasoning``."""
    return click.option(
        "--reasoning",
        type=click.Choice(EFFORTS),
        help="How much the model thinks before it answers. Default: the route's, else the model's own.",
    )(function)


def log_level_option(function: _F) -> _F:
    """``--log-level``."""
    return click.option(
        "--log-level",
        type=click.Choice(LOG_LEVELS),
        help="The least level of servers' log messages that are shown. Default: the config's, else info.",
    )(function)


def read_config(choice: ConfigChoice, *, needed: bool = True, keys: Sequence[str] | None = None) -> Config:
    """As ``sessions.chosen.config.config_of``; stderr says what was skipped and left out.

    Raises ``UsageError``."""
    return config_of(choice, TERMINAL, needed=needed, keys=keys)
