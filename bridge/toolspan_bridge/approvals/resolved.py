"""The arguments of a call as its tool gets them: with the defaults of its schema filled in."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

_LARGEST = 200_000
"""Of larger schemas the defaults are not worked out, which would keep the event loop."""


def resolved_arguments(tool: ListedTool, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """``arguments`` with the defaults that ``tool`` gives to what is missing; ``None`` where its schema is
    too large or too odd to tell."""
    from toolspan_server.engines.parameters import finisher

    if tool.size > _LARGEST:
        return None
    given = copy.deepcopy(dict(arguments))
    try:
        finish = finisher(tool.schema)
        return given if finish is None else finish(given)
    except Exception:  # of another server's schema nothing is known to be right
        return None
