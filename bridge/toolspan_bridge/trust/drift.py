"""How the tools that servers list differ from those that were locked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import override

from ..approvals import definition_diff, digest_of
from .lock_file import Definitions

DriftKind = Literal["changed", "new", "missing"]
_WORDS = {
    "changed": "has another definition than the one that was locked",
    "new": "was not there when the definitions were locked",
    "missing": "was locked and is not there any more",
}


@dataclass(frozen=True, slots=True)
class Drift:
    """One tool whose definition is not the locked one. ``before`` is what was locked and ``now`` what the
    server lists, each ``None`` where there is no such tool."""

    server: str
    tool: str
    before: Mapping[str, Any] | None
    now: Mapping[str, Any] | None

    @property
    def kind(self) -> DriftKind:
        """``changed``, ``new`` or ``missing``."""
        if self.before is None:
            return "new"
        return "missing" if self.now is None else "changed"

    @property
    def diff(self) -> list[str]:
        """The lines of a unified diff from the locked definition to the one now."""
        return definition_diff(self.before, self.now)

    @override
    def __str__(self) -> str:
        return f"the tool {self.tool!r} of the server {self.server!r} {_WORDS[self.kind]}"

    def as_dict(self) -> dict[str, Any]:
        """``{"server", "tool", "kind", "diff": [line, …]}``."""
        return {"server": self.server, "tool": self.tool, "kind": self.kind, "diff": self.diff}


def is_same(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether two definitions are equal."""
    return digest_of(before) == digest_of(now)


def drifts(locked: Definitions, listed: Definitions, silent: Collection[str] = ()) -> Iterator[Drift]:
    """Every tool of ``listed`` and ``locked`` that differs, by server and name. Nothing is known of the tools
    of the servers in ``silent``, which gave no answer."""
    for server in sorted({*locked, *listed} - set(silent)):
        before, now = locked.get(server, {}), listed.get(server, {})
        for name in sorted({*before, *now}):
            drift = Drift(server, name, before.get(name), now.get(name))
            if drift.before is None or drift.now is None or not is_same(drift.before, drift.now):
                yield drift
