"""Tools whose definitions hold what people do not see and models read: control and invisible characters."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from toolspan_server.common.visible import hidden_characters

from ..messages import ToolSpec

_TOLD = 20


@dataclass(frozen=True, slots=True)
class InvisibleText:
    """The text at ``pointer`` of the tool's definition (``/description``, ``/schema/properties/x``) holds
    ``characters``: ``U+200B ZERO WIDTH SPACE``. A name of a property is reported at its object."""

    tool: ToolSpec
    pointer: str
    characters: tuple[str, ...]


def invisible_texts(tool: ToolSpec) -> list[InvisibleText]:
    """Every text of ``tool`` that holds such characters."""
    parts: dict[str, Any] = {"name": tool.name, "description": tool.description, "schema": tool.schema}
    if tool.output_schema is not None:
        parts["output_schema"] = tool.output_schema
    found: dict[str, dict[str, None]] = {}
    for pointer, text in _texts(parts):
        if characters := hidden_characters(text):
            found.setdefault(pointer, {}).update(dict.fromkeys(characters))
    return [InvisibleText(tool, pointer, tuple(characters)) for pointer, characters in found.items()]


def invisible_text_notes(tools: Iterable[ToolSpec]) -> list[str]:
    """One sentence for each tool with such texts; of more than a few, how many there are."""
    notes: list[str] = []
    for tool in tools:
        if found := invisible_texts(tool):
            characters = dict.fromkeys(each for one in found for each in one.characters)
            where = ", ".join(dict.fromkeys(one.pointer for one in found))
            notes.append(
                f"server {tool.server!r}: the tool {tool.name!r} holds characters that people do not see and "
                f"models read ({', '.join(characters)}) at {where}: look at it before you use it"
            )
    if len(notes) > _TOLD:
        notes[_TOLD:] = [f"{len(notes) - _TOLD} more tools hold characters that people do not see"]
    return notes


def _texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Each text in a JSON value with its place, names of properties among them."""
    waiting: deque[tuple[str, Any]] = deque([(pointer, value)])
    while waiting:
        place, node = waiting.popleft()
        if isinstance(node, str):
            yield place, node
        elif isinstance(node, Mapping):
            for name, inner in cast("Mapping[str, Any]", node).items():
                yield place, name
                waiting.append((f"{place}/{name.replace('~', '~0').replace('/', '~1')}", inner))
        elif isinstance(node, list | tuple):
            waiting += [(f"{place}/{index}", item) for index, item in enumerate(cast("list[Any]", node))]
