"""The options of ``Task``."""

from __future__ import annotations

from ....schema.records import key
from ..workspace._tool import Options


class TaskOptions(Options):
    """The ``options`` of ``Task``: which tools of the workspace are served, and under what names."""

    prefix: str = key("The prefix of every name.", default="")
    tools: tuple[str, ...] = key("The tools that are served, by their own names.", default=())
