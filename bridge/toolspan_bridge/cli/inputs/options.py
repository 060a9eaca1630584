"""Options that several verbs share, and the config that they select."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toolspan_server.config import (
    DEFAULT_FILES,
    Config,
    UntrustedItem,
    ValidationConfig,
    find_config,
    load_config,
    refusal,
    untrusted_store,
)

from ...client import LOG_LEVELS
from ...errors import ConsentError, StoreError, UsageError
from ...files.user_state import user_state_directory
from ...messages import EFFORTS
from ..terminal.output import print_note
from . import completed
from .tool_globs import ALL_TOOLS, ToolGlobs

if TYPE_CHECKING:
    from ...trust.folders import TrustedFolders

_F = TypeVar("_F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print data as JSON on stdout.")


@dataclass(frozen=True, slots=True)
class ConfigChoice:
    """The options of the config: its ``paths``, what to do with wrong tools, and ``--trust``; the
    ``workspace`` whose tools come in addition; whether only ``locked`` tools are used; further ``servers``,
    commands or URLs; which of the ``tools`` are; whether to ``debug``, which shows the wires; and the URL of
    the validation ``store``, where it is not the config's."""

    paths: tuple[str, ...] = ()
    skip_invalid: bool = False
    trust: bool = False
    workspace: Path | None = None
    locked: bool = False
    servers: tuple[str, ...] = ()
    tools: ToolGlobs = ALL_TOOLS
    debug: bool = False
    store: str = ""

    def with_store(self, config: Config) -> Config:
        """``config`` with the validation store that was named, where one was."""
        if not self.store:
            return config
        own = config.validation or ValidationConfig()
        return config.model_copy(update={"validation": own.model_copy(update={"store": self.store})})

    def allow_store(self, config: Config) -> None:
        """Raise ``ConsentError`` where the store of ``config`` is on another machine, without consent."""
        self.allow(self.foreign_store(config))

    def foreign_store(self, config: Config) -> Sequence[UntrustedItem]:
        """The store of ``config``, where it is on another machine and no person named it."""
        return () if self.store else untrusted_store(config)

    @property
    def is_named(self) -> bool:
        """Whether a person named the config. A folder's .mcp.json is then never used in addition."""
        return bool(self.paths or os.environ.get("TOOLSPAN_CONFIG"))

    @property
    def may_run(self) -> bool:
        """Whether the config's handlers, servers and requests to its providers may be run."""
        return self.is_named or self.trust

    def allow(self, found: Sequence[UntrustedItem], *, ask: bool = True) -> None:
        """Raise ``ConsentError`` when ``found`` has any item without consent.

        The person gives it at a terminal, where they are asked unless ``ask`` is false; it is remembered for
        the items as they are, in this folder.
        """
        if found and not self.may_run and not self.is_trusted(found, ask=ask):
            raise ConsentError(refusal(found))

    def is_trusted(self, found: Sequence[UntrustedItem], ask: bool) -> bool:
        """Whether the person allowed ``found`` in this folder, earlier or now. Raises ``ConsentError`` for a
        no."""
        from ..terminal.questions.one_question import has_terminal
        from ..terminal.trust import MOST_SHOWN, asked_to_trust

        can_ask = ask and has_terminal()
        try:
            folder, folders = Path.cwd(), trusted_folders()
            unknown = folders.untrusted(folder, found)
        except StoreError:
            if can_ask:
                raise
            return False  # what cannot be read allows nothing
        if unknown and not (can_ask and len(unknown) <= MOST_SHOWN):
            return False
        if unknown:
            if not asked_to_trust(folder, unknown):
                raise ConsentError("you did not trust it, so nothing was run or sent")
            folders.trust(folder, (each.item for each in unknown))
        return True


def trusted_folders() -> TrustedFolders:
    """What this user allowed folders to run. Raises ``StoreError``."""
    from ...trust.folders import TRUST_FILE, TrustedFolders

    try:
        return TrustedFolders(user_state_directory() / TRUST_FILE)
    except OSError as error:
        raise StoreError(f"the folder of what is remembered cannot be made: {error}") from None


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
        help="Run what files found here, not named, contain: handlers, servers, and those of .mcp.json; "
        "send variables where they say.",
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


def config_paths_or_default(paths: tuple[str, ...]) -> tuple[Path, ...]:
    """The files that ``--config`` names; else $TOOLSPAN_CONFIG or the default file here; may be empty."""
    if paths:
        return tuple(Path(path) for path in paths)
    if from_environment := os.environ.get("TOOLSPAN_CONFIG"):
        return (Path(from_environment),)
    found = find_config(Path.cwd())
    return (found,) if found else ()


def read_config(choice: ConfigChoice, *, needed: bool = True, import_handlers: bool = False) -> Config:
    """The config that the options name; its handlers are only read, which is all that most verbs need.

    Raises ``UsageError`` when there is none and one is ``needed``.
    """
    files = config_paths_or_default(choice.paths)
    if not files:
        if needed:
            raise UsageError(
                f"no config file is in {Path.cwd()} (looked for {', '.join(DEFAULT_FILES)}): name one with "
                "--config FILE, or write one with `toolspan init`"
            )
        return choice.with_store(Config())
    config = load_config(*files, skip_invalid=choice.skip_invalid, import_handlers=import_handlers)
    for problem in config.skipped:
        print_note(f"skipped {problem}")
    return choice.with_store(config)
