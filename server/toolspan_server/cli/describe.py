"""``--describe``: what a config would serve, as JSON, once its sources were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from ..live.runtime import Runtime
    from ..live.source_runner import SourceRunner

_INTERVAL_S = 0.05


async def description(runtime: Runtime) -> dict[str, Any]:
    """What ``runtime`` serves once each source offered its tools, failed, or had its time.

    ``{"name": …, "tools": [{"name", "title", "description", "tags"}], "sources": […], "services": {…}}``; the
    sources and services are those of ``/readyz``, of a source with every operation that it left out.
    """
    runners = runtime.snapshot.source_runners
    while not runtime.is_settled and not all(map(_is_known, runners)):  # noqa: ASYNC110 - no event tells that a source failed
        await anyio.sleep(_INTERVAL_S)
    health = runtime.health()
    for state, runner in zip(health["sources"], runners, strict=True):
        if omitted := getattr(runner.source, "left_out", ()):
            state["omitted"] = [runtime.redact(each) for each in omitted]
    tools = [
        {
            "name": tool.name,
            "title": tool.config.title,
            "description": tool.config.description,
            "tags": list(tool.config.tags),
        }
        for tool in runtime.registry
    ]
    return {
        "name": runtime.name,
        "tools": tools,
        "sources": health["sources"],
        "services": health["services"],
    }


def _is_known(runner: SourceRunner) -> bool:
    return runner.offered.is_set() or runner.state()["state"] == "failed"
