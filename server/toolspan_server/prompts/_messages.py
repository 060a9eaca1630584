"""Renders prompt messages: one content block each (MCP 2026-07-28, server/prompts)."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from ..engines.templates import TemplateTree, compiled
from ..resources._content import BYTES, media_type_of
from ..resources._folder import OneFile
from ..resources._metadata import hints
from ..resources._optional_values import filled

if TYPE_CHECKING:
    from ..config.models.prompts import BlockConfig, MessageConfig

ReadResource = Callable[[str], Awaitable[dict[str, Any]]]
"""Reads the content of a resource of this server, like ``Resources.read``."""


@dataclass(frozen=True, slots=True)
class Filling:
    """The values and limits for rendering. ``limit`` is in bytes for a file, in characters for a text."""

    values: Mapping[str, Any]
    optional: frozenset[str]
    read: ReadResource
    base: Path
    limit: int

    def of(self, tree: TemplateTree) -> Any:
        """``tree``, rendered. Raises ``RenderFailure``."""
        return filled(tree, self.values, self.optional, self.limit)


class Message:
    """One message of the config, compiled. It becomes one MCP message for each of its blocks."""

    def __init__(self, config: MessageConfig) -> None:
        self._role = config.role
        self._blocks = list(_blocks(config))

    async def filled(self, filling: Filling) -> list[dict[str, Any]]:
        """The messages. Raises ``RenderFailure``, ``ResourceNotFound`` and ``ResourceUnreadable``."""
        return [{"role": self._role, "content": await block.filled(filling)} for block in self._blocks]


class _Block:
    def __init__(self, config: BlockConfig) -> None:
        self._config = config
        self._tree = compiled(_written(config), texts=True)

    async def filled(self, filling: Filling) -> dict[str, Any]:
        config = self._config
        block: dict[str, Any] = filling.of(self._tree)
        if config.file is not None:
            block = {**block, **await _media(config, filling)}
        elif config.type == "resource" and config.resource is None:
            block = {"type": "resource", "resource": await filling.read(block["uri"])}
        given = hints(config.annotations)
        return block if given is None else {**block, "annotations": given}


@dataclass(frozen=True, slots=True)
class _Text:
    tree: TemplateTree

    async def filled(self, filling: Filling) -> dict[str, Any]:
        return {"type": "text", "text": filling.of(self.tree)}


def _blocks(config: MessageConfig) -> Iterator[_Block | _Text]:
    if config.content is None:
        yield _Text(compiled(config.text, texts=True))
    else:
        yield from map(_Block, config.content)


def _written(config: BlockConfig) -> dict[str, Any]:
    """The block in MCP's form, with templates; its media and annotations are added later."""
    names = {"text": "text", "uri": "uri", "name": "name", "title": "title", "description": "description"}
    values = {ours: value for name, ours in names.items() if (value := getattr(config, name)) is not None}
    if config.data is not None:
        values["data"] = config.data
    if config.mime_type is not None:
        values["mimeType"] = config.mime_type
    if config.resource is not None:
        inside = config.resource
        members = {"uri": inside.uri, "mimeType": inside.mime_type, "text": inside.text, "blob": inside.blob}
        values["resource"] = {name: value for name, value in members.items() if value is not None}
    return {"type": config.type, **values}


async def _media(config: BlockConfig, filling: Filling) -> dict[str, Any]:
    path = config.file or ""
    file = OneFile(path, filling.base, path, config.outside)
    data = await anyio.to_thread.run_sync(partial(file.read, path, filling.limit))
    media_type = config.mime_type or media_type_of(path) or BYTES
    return {"data": base64.b64encode(data).decode(), "mimeType": media_type}
