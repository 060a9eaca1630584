"""The server's state, as ``/readyz`` reports it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from .snapshots import ConfigSnapshot

_NAMED = 5


def health(snapshot: ConfigSnapshot, problems: Sequence[str], redact: Callable[[str], str]) -> dict[str, Any]:
    """The state of ``snapshot``; ``problems`` are those of a later config that was refused.

    ``{"status": "ok" | "degraded", "config": {"generation", "loaded_at", "problems"}, "sources": […],
    "services": {…}}``, without secrets.
    """
    sources = [runner.state() for runner in snapshot.source_runners]
    services = {name: _state(service) for name, service in snapshot.services.items()}
    parts = [*sources, *services.values()]
    sound = not problems and all(part.get("state") == "ready" for part in parts)
    report = {
        "status": "ok" if sound else "degraded",
        "config": {
            "generation": snapshot.number,
            "loaded_at": datetime.fromtimestamp(snapshot.loaded_at, UTC).isoformat(timespec="milliseconds"),
            "problems": list(problems),
        },
        "sources": sources,
        "services": services,
    }
    return cast("dict[str, Any]", _redacted(report, redact))


def source_problems(snapshot: ConfigSnapshot, redact: Callable[[str], str]) -> tuple[str, ...]:
    """A sentence about each source whose tools are missing, or are older than they should be: why that is."""
    states = (runner.state() for runner in snapshot.source_runners)
    return tuple(
        redact(f"the source {state['type']} {state.get('name', '')}".rstrip() + f" {problem}")
        for state in states
        if (problem := _problem(state))
    )


def _problem(state: Mapping[str, Any]) -> str:
    """What is wrong with a source, or missing from it; empty for nothing."""
    if state.get("error"):
        return f"failed: {state['error']}"
    named = cast("Sequence[str]", state.get("omitted", ()))
    if not named:
        return ""
    count, of_tools = int(state.get("left_out", len(named))), int(state.get("tools", state.get("offered", 0)))
    listed = "; ".join(named[:_NAMED]) + (f"; and {count - _NAMED:,} more" if count > _NAMED else "")
    if not of_tools:
        return f"has no tool, all of its operations are left out: {listed}"
    return f"leaves out {count:,} of {count + of_tools:,}: {listed}"


def _state(service: Any) -> Mapping[str, Any]:
    """The state that a service reports; not every one does."""
    state = getattr(service, "state", None)
    return {"state": "ready"} if state is None else state()


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        parts = cast("Mapping[str, Any]", value)
        return {name: _redacted(part, redact) for name, part in parts.items()}
    if isinstance(value, list | tuple):
        return [_redacted(part, redact) for part in cast("Sequence[Any]", value)]
    return value
