"""How hard a model is to think, in ``think``: a level for models that know levels, else on or off.

Source: ollama v0.33.0-rc2, ``api/types.go`` (``ThinkValue``), and ``docs/capabilities/thinking.mdx``: gpt-oss
takes levels only and cannot be switched off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...messages import ReasoningEffort

__all__ = ["Think", "fitting", "think_value"]

Think = bool | str
"""What ``think`` holds: ``true``, ``false``, or a level."""

_LEVELS_ONLY = re.compile(r"(^|[/:._-])gpt-oss")
_FROM_LEAST = ("low", "medium", "high")


def think_value(model: str, effort: ReasoningEffort) -> Think:
    """``think`` for ``effort`` by the model's family: its name says whether it knows levels."""
    if _LEVELS_ONLY.search(model.lower()):
        return "low" if effort == "none" else effort
    return effort != "none"


def fitting(effort: ReasoningEffort, values: Sequence[Think]) -> Think | None:
    """The one of ``values``, which the server lists for a model, that is nearest to ``effort``.

    ``None`` where none is: the model then thinks as it does by itself.
    """
    if effort == "none":
        wanted: tuple[Think, ...] = (False, *_FROM_LEAST)
    else:
        place = _FROM_LEAST.index(effort)
        wanted = (effort, *_FROM_LEAST[place + 1 :], *reversed(_FROM_LEAST[:place]), True)
    return next((value for value in wanted if value in values), None)
