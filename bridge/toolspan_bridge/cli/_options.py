"""Options that several verbs share, and the config that they lead to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from toolspan_server.config import DEFAULT_FILES, Config, find_config, load_config

from ..errors import UsageError
from ._output import note

_F = TypeVar("_F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print data as JSON on stdout.")


def config_options(function: _F) -> _F:
    """``--config`` and ``--skip-invalid``."""
    paths = click.option(
        "-c",
        "--config",
        "config_paths",
        multiple=True,
        metavar="FILE",
        help="A config file; may repeat. Default: $TOOLSPAN_CONFIG, else " + ", ".join(DEFAULT_FILES) + ".",
    )
    skip = click.option("--skip-invalid", is_flag=True, help="Leave out tools with errors, and say which.")
    return paths(skip(function))


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
        help="Who answers. Default: $TOOLSPAN_MODEL, else the matching route's model, else offline/keyword.",
    )(function)


def talk_options(function: _F) -> _F:
    """``--builtin``, ``--image``, ``--no-stream`` and ``--trim``."""
    builtin = click.option(
        "--builtin",
        "builtins",
        multiple=True,
        metavar="NAME",
        help="A tool of the provider's own beside the config's, such as web_search; may repeat.",
    )
    image = click.option(
        "--image",
        "images",
        multiple=True,
        metavar="FILE",
        help="A PNG, JPEG, GIF or WebP image that goes with the (first) question; may repeat.",
    )
    stream = click.option(
        "--no-stream", is_flag=True, help="Show the answer when it is whole, not as it comes."
    )
    trim = click.option(
        "--trim",
        is_flag=True,
        help="Leave out what was said first where a local model's context is too short for all; "
        "without it such a question is refused.",
    )
    return builtin(image(stream(trim(function))))


def config_paths_or_default(paths: tuple[str, ...]) -> tuple[Path, ...]:
    """The files that ``--config`` names; else $TOOLSPAN_CONFIG or the default file here; may be empty."""
    if paths:
        return tuple(Path(path) for path in paths)
    if from_environment := os.environ.get("TOOLSPAN_CONFIG"):
        return (Path(from_environment),)
    found = find_config(Path.cwd())
    return (found,) if found else ()


def read_config(paths: tuple[str, ...], *, skip_invalid: bool = False, needed: bool = True) -> Config:
    """The config that the options name. Raises ``UsageError`` when there is none and one is ``needed``."""
    files = config_paths_or_default(paths)
    if not files:
        if needed:
            raise UsageError(
                f"no config file: none of {', '.join(DEFAULT_FILES)} is in this folder "
                "(pass --config FILE, or try `toolspan demo`)"
            )
        return Config()
    config = load_config(*files, skip_invalid=skip_invalid)
    for problem in config.skipped:
        note(f"skipped {problem}")
    return config
