"""``/api/health``: whether the app works, and what it is connected to."""

from __future__ import annotations

from importlib.metadata import version

from pydantic import Field

from toolspan_server.common.supervision import failures

from ...principals import is_operator
from ..endpoint import Answer, Call, Endpoint


class ConfigHealth(Answer):
    """The config, for the operator: its ``path``, and the ``problems`` of a changed one that is not used."""

    path: str | None
    problems: list[str]


class ServersHealth(Answer):
    """How many MCP servers are connected, and how many are not."""

    connected: int
    failed: int


class Health(Answer):
    """The state of the app."""

    status: str
    version: str
    config: ConfigHealth
    servers: ServersHealth
    tools: int
    background_failures: dict[str, int] = Field(
        description="How often each background work of the process has failed, for the operator."
    )


async def health(call: Call) -> Health:
    """The app's state; of the config only the operator is told."""
    own = is_operator(call.principal)
    live, toolbox = call.app.live, call.app.live.current.session.toolbox
    failed = sum(1 for server in toolbox.servers if server.failure is not None)
    files = call.app.config.files
    return Health(
        status="ok",
        version=version("toolspan"),
        config=ConfigHealth(
            path=str(files[0]) if files and own else None, problems=list(live.problems) if own else []
        ),
        servers=ServersHealth(connected=len(toolbox.servers) - failed, failed=failed),
        tools=len(toolbox.tools),
        background_failures=dict(failures()) if own else {},
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/health",
        "Whether the app works, and what it is connected to.",
        health,
        "health",
        audience="shared",
        answer=Health,
    ),
)
