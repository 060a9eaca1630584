"""Tells when servers come, go or list other tools, whatever the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from ...toolbox import Toolbox
    from ...toolbox.toolbox import ServerState

LOOK_EVERY_S = 0.5


async def tell_changes(toolbox: Callable[[], Toolbox], tell: Callable[[str, dict[str, Any]], None]) -> None:
    """Tell ``server_changed`` and ``tools_changed`` of the toolbox of now, for ever. That another one took
    its place is told by whoever replaced it."""
    watched = toolbox()
    known, tools = _states(watched), watched.tools
    while True:
        await anyio.sleep(LOOK_EVERY_S)
        current = toolbox()
        now, listed = _states(current), current.tools
        if current is watched:
            for name in sorted(now):
                if now[name] != known.get(name):
                    tell("server_changed", {"name": name})
            if listed is not tools and listed != tools:
                tell("tools_changed", {"tools": len(listed)})
        watched, known, tools = current, now, listed


def _states(toolbox: Toolbox) -> dict[str, ServerState]:
    return {state.name: state for state in toolbox.servers}
