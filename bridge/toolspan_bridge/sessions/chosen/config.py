"""Which config, servers and tools a session is to have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolspan_server.common.modules.bytecode import keep_bytecode_elsewhere
from toolspan_server.config import (
    DEFAULT_FILES,
    Config,
    UntrustedItem,
    ValidationConfig,
    find_config,
    left_out,
    load_config,
)

from ...errors import StoreError, UsageError
from ...files.user_state import user_state_directory
from .tool_globs import ALL_TOOLS, ToolGlobs

if TYPE_CHECKING:
    from ...trust.folders import TrustedFolders
    from ..host import Host

_SERVERS = ("$.mcpServers", "$.mcp_servers", "$.servers")
_TOOLS = ("$.tools.registry", "$.tools.sources", "$.services")

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

    @property
    def is_named(self) -> bool:
        """Whether a person named the config. A folder's .mcp.json is then never used in addition."""
        return bool(self.paths or os.environ.get("TOOLSPAN_CONFIG"))

    @property
    def may_run(self) -> bool:
        """Whether the config's handlers, servers and requests to its providers may be run."""
        return self.is_named or self.trust

    def is_trusted(self, found: Sequence[UntrustedItem], host: Host, *, ask: bool) -> bool:
        """Whether the person of ``host`` allowed all of ``found`` in this folder, earlier or now.

        They are asked now where ``ask`` is true and they are there. A yes is remembered for the items as they
        are, in this folder; a no for this process.
        """
        if not found:
            return True
        can_ask = ask and host.has_person and frozenset(found_keys(found)) not in _DECLINED
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
                _DECLINED.add(frozenset(found_keys(found)))
                return False
            folders.trust(folder, found)
        return True


_DECLINED: set[frozenset[tuple[str, str, str]]] = set()


def found_keys(found: Sequence[UntrustedItem]) -> Iterator[tuple[str, str, str]]:
    """What tells ``found`` from other items, in this process."""
    return ((str(each.file), each.place, f"{each.what} {sorted(each.contents.items())}") for each in found)


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
    choice: ConfigChoice, host: Host, *, needed: bool = True, keys: Sequence[str] | None = None
) -> Config:
    """The config that the options name; its handlers are only read, which is all that most callers need.
    ``host`` is told what was skipped.

    Of a config that was found, and that nobody trusts, it is what is inert (``Config.withheld`` is the rest).
    The person of ``host`` is asked, or told, where one of ``keys`` is left out, which the caller uses:
    all where it is ``None``.

    Raises ``UsageError`` when there is none and one is ``needed``.
    """
    config = found_config(choice, host, needed=needed, keys=keys)
    if relevant := _relevant(config.withheld, keys):
        host.note(left_out(relevant))
    return config


def found_config(
    choice: ConfigChoice,
    host: Host,
    *,
    needed: bool = True,
    keys: Sequence[str] | None = None,
    beside: Sequence[UntrustedItem] = (),
) -> Config:
    """As ``config_of``, but ``host`` is not told what is left out. The items ``beside`` the config, which
    its caller uses too, are asked about in the same question."""
    files = config_paths_or_default(choice.paths)
    if not choice.is_named:
        keep_bytecode_elsewhere()
    if not files:
        if needed:
            raise UsageError(
                f"no config file is in {Path.cwd()} (looked for {', '.join(DEFAULT_FILES)}): name one with "
                "--config FILE, or write one with `toolspan init`"
            )
        if beside and not choice.may_run:
            choice.is_trusted(beside, host, ask=True)
        return choice.with_store(Config())
    load = partial(load_config, *files, skip_invalid=choice.skip_invalid, import_handlers=False)
    if choice.is_named:
        config = load()
    elif choice.trust:
        config = load(pinned=load().fingerprint)
    else:
        config = load(restricted=True)
        further = () if has_servers(config) else beside
        ask = bool(_relevant(config.withheld, keys) or further)
        trusted = choice.is_trusted([*config.withheld, *further], host, ask=ask)
        if config.withheld and (trusted or choice.is_trusted(config.withheld, host, ask=False)):
            config = load(pinned=config.fingerprint)
    for problem in config.skipped:
        host.note(f"skipped {problem}")
    return choice.with_store(config)


def has_servers(config: Config) -> bool:
    """Whether ``config`` has MCP servers of its own, left out or not; then .mcp.json is not used."""
    return bool(config.mcp_servers) or any(item.place.startswith(_SERVERS) for item in config.withheld)


def may_offer_tools(withheld: Sequence[UntrustedItem]) -> bool:
    """Whether there could be tools, or what they work with, in what is ``withheld``."""
    return any(item.place == "$.tools" or item.place.startswith((*_SERVERS, *_TOOLS)) for item in withheld)


def whole_config(choice: ConfigChoice, host: Host, *, import_handlers: bool = False) -> Config:
    """The whole config that the options name, also where nobody trusts it: for callers that describe it and
    use nothing of it. ``host`` is told what was skipped. Raises ``UsageError`` when there is none."""
    files = config_paths_or_default(choice.paths)
    if not files:
        return config_of(choice, host)
    config = load_config(*files, skip_invalid=choice.skip_invalid, import_handlers=import_handlers)
    for problem in config.skipped:
        host.note(f"skipped {problem}")
    return choice.with_store(config)


def _relevant(withheld: Sequence[UntrustedItem], keys: Sequence[str] | None) -> Sequence[UntrustedItem]:
    """Those of ``withheld`` at one of the config's ``keys``; all where that is ``None``."""
    if keys is None:
        return withheld
    at = tuple(f"$.{key}" for key in keys)
    return [item for item in withheld if item.place.startswith(at)]
