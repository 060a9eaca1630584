"""Which config, servers and tools a session is to have."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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

from ...errors import ConsentError, StoreError, UsageError
from ...files.user_state import user_state_directory
from .tool_globs import ALL_TOOLS, ToolGlobs

if TYPE_CHECKING:
    from ...trust.folders import TrustedFolders
    from ..host import Host

_MOST_SHOWN = 200
"""How many items a person is asked about at once."""


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

    def allow_store(self, config: Config, host: Host) -> None:
        """Raise ``ConsentError`` where the store of ``config`` is on another machine, without consent."""
        self.allow(self.foreign_store(config), host)

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

    def allow(self, found: Sequence[UntrustedItem], host: Host, *, ask: bool = True) -> None:
        """Raise ``ConsentError`` when ``found`` has any item without consent.

        The person of ``host`` gives it, who is asked unless ``ask`` is false; it is remembered for the items
        as they are, in this folder.
        """
        if found and not self.may_run and not self.is_trusted(found, host, ask=ask):
            raise ConsentError(refusal(found))

    def allowing(self, host: Host) -> Callable[[Sequence[UntrustedItem]], None]:
        """``allow`` in ``host``."""
        return partial(self.allow, host=host)

    def is_trusted(self, found: Sequence[UntrustedItem], host: Host, ask: bool) -> bool:
        """Whether the person of ``host`` allowed ``found`` in this folder, earlier or now. Raises
        ``ConsentError`` for a no."""
        can_ask = ask and host.has_person
        try:
            folder, folders = Path.cwd(), trusted_folders()
            unknown = folders.untrusted(folder, found)
        except StoreError:
            if can_ask:
                raise
            return False  # what cannot be read allows nothing
        if unknown and not (can_ask and len(unknown) <= _MOST_SHOWN):
            return False
        if unknown:
            if not host.trusts(folder, unknown):
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


def config_paths_or_default(paths: tuple[str, ...]) -> tuple[Path, ...]:
    """The files that ``--config`` names; else $TOOLSPAN_CONFIG or the default file here; may be empty."""
    if paths:
        return tuple(Path(path) for path in paths)
    if from_environment := os.environ.get("TOOLSPAN_CONFIG"):
        return (Path(from_environment),)
    found = find_config(Path.cwd())
    return (found,) if found else ()


def config_of(
    choice: ConfigChoice, host: Host, *, needed: bool = True, import_handlers: bool = False
) -> Config:
    """The config that the options name; its handlers are only read, which is all that most callers
    need. ``host`` is told what was skipped.

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
        host.note(f"skipped {problem}")
    return choice.with_store(config)
