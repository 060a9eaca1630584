"""One line of the activity log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

__all__ = ["KINDS", "STATUSES", "About", "Entry", "Kind", "Status", "moment"]

Kind = Literal["request", "run", "tool"]
"""A request that asks no model, a run (a question with all its turns), or one tool call of a run."""
KINDS: tuple[Kind, ...] = ("request", "run", "tool")
Status = Literal["ok", "error", "cancelled"]
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800.0, 253_402_300_799.0
STATUSES: tuple[Status, ...] = ("ok", "error", "cancelled")


@dataclass(frozen=True, slots=True)
class About:
    """Who asked by what: ``source`` is the API or the page's path, ``key`` a virtual key's name, never the
    key; ``group`` is the same for a run and its calls."""

    principal: str = ""
    source: str = ""
    key: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was done at ``at`` (seconds since 1970), and what came of it. ``usd`` is ``None`` where the cost
    is not known, ``first_ms`` where nothing came. ``tried`` are the deployments that were asked
    (``Tried.as_dict``). ``id`` is given by the log."""

    kind: Kind
    at: float
    about: About = About()
    model: str = ""
    provider: str = ""
    server: str = ""
    tool: str = ""
    status: Status = "ok"
    error_code: str = ""
    error: str = ""
    first_ms: float | None = None
    total_ms: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    tools: int = 0
    tried: tuple[Mapping[str, Any], ...] = ()
    text: str = ""
    id: int = 0

    @property
    def name(self) -> str:
        """What is counted together: a tool as ``server/tool``, a run by its model as ``provider/model``, a
        request by its path."""
        if self.kind == "request":
            return self.about.source
        if self.kind == "tool":
            return f"{self.server}/{self.tool}" if self.server else self.tool
        return f"{self.provider}/{self.model}" if self.provider else self.model

    def as_dict(self) -> dict[str, Any]:
        """The entry as the API gives it; ``at`` in ISO 8601."""
        return {
            "id": self.id,
            "kind": self.kind,
            "at": moment(self.at),
            "principal": self.about.principal,
            "source": self.about.source,
            "key": self.about.key,
            "group": self.about.group,
            "model": self.model,
            "provider": self.provider,
            "server": self.server,
            "tool": self.tool,
            "status": self.status,
            "error_code": self.error_code,
            "error": self.error,
            "first_ms": self.first_ms,
            "total_ms": self.total_ms,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
            "tools": self.tools,
            "tried": [dict(each) for each in self.tried],
            "text": self.text or None,
        }


def moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601, in UTC, to the millisecond; before the year 1 and after 9999 the first
    and the last one that has a name."""
    named = min(max(seconds, _FIRST_SECOND), _LAST_SECOND)
    return datetime.fromtimestamp(named, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
