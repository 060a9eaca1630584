"""The config's own server: does it start, and what do its sources and services say?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import anyio.to_thread

from toolspan_server.config import counted

from ....errors import BridgeError
from ...init import server_description
from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 30


async def check(around: Surroundings) -> list[Finding]:
    """The tools that would be served, and what is left out."""
    if around.error is not None or not around.files:
        return []
    found = []
    if around.withholds("tools", "services", "handlers"):
        found = [
            warning("some of its own tools were not looked at: nobody trusts this folder", "add --trust")
        ]
        if not around.config.tools.registry:
            return found
    options = [part for path in around.files for part in ("--config", str(path))]
    options = [*(["--restricted"] if around.config.is_restricted else []), *options]
    options += ["--skip-invalid"] if around.choice.skip_invalid else []
    try:
        served = await anyio.to_thread.run_sync(partial(server_description, *options))
    except BridgeError as error:
        return [problem(f"its server does not start: {error.message}", "see the message", error.exit_code)]
    tools = counted("tools", len(served["tools"]))
    first = [ok(f"its server starts, with {tools}")] if served["tools"] else []
    return [*found, *first, *_of_sources(served), *_of_services(served["services"])]


def _of_sources(found: Mapping[str, Any]) -> Iterator[Finding]:
    for source in found["sources"]:
        name = f"source {source.get('name', source['type'])}"
        if source["state"] != "ready":
            why = source.get("error", "it did not offer its tools in time")
            yield problem(f"{name}: {why}", "correct the entry in tools.sources, or what it leads to", 4)
        for each in source.get("left_out", ()):
            yield warning(
                f"{name}: left out: {each}", "add what it needs to the source, or name it under exclude"
            )


def _of_services(services: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for name, service in services.items():
        if service.get("state") not in ("ready", "waiting", "starting"):
            yield problem(
                f"service {name}: {service.get('error', service.get('state'))}", "correct services", 4
            )
