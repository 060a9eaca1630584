"""How a list of tools differs from the one before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import override

from ._fingerprints import Fingerprint

ChangeKind = Literal["changed", "new", "removed"]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one tool; ``keys`` are those of its definition that are others than before."""

    tool: str
    kind: ChangeKind
    keys: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {"tool": self.tool, "kind": self.kind, **({"keys": list(self.keys)} if self.keys else {})}

    @override
    def __str__(self) -> str:
        if self.kind != "changed":
            return f"the tool {self.tool!r} is {self.kind}"
        return f"the definition of the tool {self.tool!r} has changed: {', '.join(self.keys)}"


def compared(
    before: Mapping[str, Fingerprint],
    now: Mapping[str, Fingerprint],
    gone: Mapping[str, Fingerprint],
    *,
    whole: bool = True,
) -> list[Change]:
    """The changes from ``before`` to ``now``; ``gone`` are tools that were there once.

    One that comes back with another definition has changed. Where ``now`` is not ``whole``, none is reported
    as removed.
    """
    changes: list[Change] = []
    for name, found in now.items():
        known = before.get(name) or gone.get(name)
        if known is not None and known.digest != found.digest:
            changes.append(Change(name, "changed", known.differs_in(found)))
        elif name not in before:
            changes.append(Change(name, "new"))
    if whole:
        changes += [Change(name, "removed") for name in before if name not in now]
    return changes
