"""What of a tool's definition an approval is bound to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolspan_server.engines.definitions import digest_of
from toolspan_server.engines.upstreams import ListedTool

__all__ = ["Departure", "definition_diff", "definition_of", "digest_of"]


@dataclass(frozen=True, slots=True)
class Departure:
    """That a tool's definition is another than it was: ``before`` is that of ``since``, in words for people
    ("you allowed it"), and ``None`` where the tool was not there then.

    ``reason`` says so in a sentence. A call of such a tool needs the person's decision whatever else allows
    it. With a ``remedy`` nobody is asked and the call is refused: it says how the definition is accepted.
    """

    before: Mapping[str, Any] | None
    since: str
    reason: str = ""
    remedy: str = ""


def definition_of(tool: ListedTool) -> dict[str, Any]:
    """``{"name", "description", "schema", "annotations"}``."""
    return tool.definition


def definition_diff(before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> list[str]:
    """The lines of a unified diff of two definitions, as indented JSON with the lines of a long description
    apart; ``None`` is none at all."""
    from difflib import unified_diff

    return list(unified_diff(_lines(before), _lines(now), "before", "now", lineterm="", n=1))


def _lines(definition: Mapping[str, Any] | None) -> list[str]:
    if definition is None:
        return []
    description = str(definition.get("description", ""))
    if "\n" in description:
        definition = {**definition, "description": description.split("\n")}
    return json.dumps(definition, sort_keys=True, indent=1, ensure_ascii=False).split("\n")
