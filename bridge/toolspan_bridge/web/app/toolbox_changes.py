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
    """Tell ``server_changed`` and ``tools_changed`` of the toolbox of now, for ever."""
    known, tools = _states(toolbox()), toolbox().tools
    while True:
        await anyio.sleep(LOOK_EVERY_S)
        now, listed = _states(toolbox()), toolbox().tools
        for name in sorted(now.keys() | known.keys()):
            if now.get(name) != known.get(name):
                tell("server_changed", {"name": name})
        if listed is not tools and listed != tools:
            tell("tools_changed", {"tools": len(listed)})
        known, tools = now, listed


def _states(toolbox: Toolbox) -> dict[str, ServerState]:
    return {state.name: state for state in toolbox.servers}
