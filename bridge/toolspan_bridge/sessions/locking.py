"""The lock file of a session: what it says about the tools that its servers list."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.config import Config
from toolspan_server.engines.upstreams import ListedTool

from ..approvals import definition_of
from ..errors import UsageError
from ..toolbox import Toolbox
from ..trust import LOCK_FILE, Baseline, Definitions, drifts, read_lock
from .chosen.config import ConfigChoice
from .host import Host

_TOLD = 20


def lock_path(config: Config) -> Path:
    """Where the lock file of ``config`` is: beside it, or in this folder for one from no file."""
    return config.directory / LOCK_FILE


def locked_definitions(choice: ConfigChoice, config: Config, *, server: str | None) -> Definitions | None:
    """The definitions that are locked for a session; of one ``server`` that the command line names, none.

    Raises ``UsageError`` when they cannot be read, or ``--locked`` finds none.
    """
    if server is not None:
        if choice.locked:
            raise UsageError("--locked is about a config's servers: leave it out beside --server")
        return None
    path = lock_path(config)
    found = read_lock(path)
    if found is None and choice.locked:
        raise UsageError(f"--locked: there is no {path} (write it with toolspan lock)")
    return found


def listed_definitions(toolbox: Toolbox) -> Definitions:
    """The definition of every server's tools as it is listed now."""
    found: dict[str, dict[str, dict[str, object]]] = {}
    for spec in toolbox.tools:
        found.setdefault(spec.server, {})[spec.name] = definition_of(toolbox.definition(spec))
    return found


def held(
    toolbox: Toolbox, locked: Definitions | None, host: Host, *, strict: bool
) -> tuple[Toolbox, Baseline]:
    """The toolbox of a session and what its tools are held to. What differs from ``locked`` is told to
    ``host``; where the lock is ``strict``, such tools are not in the toolbox."""
    listed = listed_definitions(toolbox)
    baseline = Baseline(listed, locked, strict=strict)
    if locked is None:
        return toolbox, baseline
    _say(toolbox, locked, listed, host, strict=strict)
    if strict:
        toolbox = toolbox.accepting(_OnlyLocked(baseline, listed, host))
    return toolbox, baseline


class _OnlyLocked:
    """Says no to tools that are not as they were locked; the host is told once of each that is ``listed``
    otherwise than when the session began."""

    def __init__(self, baseline: Baseline, listed: Definitions, host: Host) -> None:
        self._host = host
        self._baseline = baseline
        self._listed = listed
        self._said: set[tuple[str, str]] = set()

    def __call__(self, server: str, tool: ListedTool) -> bool:
        departure = self._baseline.departure(server, tool)
        if departure is None:
            return True
        key = (server, tool.name)
        if key not in self._said and self._listed.get(server, {}).get(tool.name) != definition_of(tool):
            self._said.add(key)
            self._host.note(
                f"the tool {tool.name!r} of the server {server!r} is left out: {departure.reason}"
            )
        return False


def _say(toolbox: Toolbox, locked: Definitions, listed: Definitions, host: Host, *, strict: bool) -> None:
    silent = [failure.server for failure in toolbox.failures]
    about = listed if strict else {name: tools for name, tools in listed.items() if name in locked}
    found = list(drifts(locked, about, silent))
    for drift in found[:_TOLD]:
        outcome = ": it is left out" if strict and drift.kind != "missing" else ""
        host.note(f"{drift}{outcome}")
    if len(found) > _TOLD:
        host.note(f"{len(found) - _TOLD:,} more tools differ from the locked ones")
    if found:
        host.note("toolspan lock --check shows the differences, toolspan lock accepts them")
