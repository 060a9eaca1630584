"""The texts of a config that clients may read: records mark the keys with ``served=True``."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from ..parts.kind import KINDS
from ..problems import Path
from ..schema.deferred import deferred_record
from .models.config import Config
from .models.tool import ToolConfig

_REGISTRY = ("tools", "registry")


def is_served(data: Any, path: Path) -> bool:
    """Whether the string at ``path`` of raw ``data`` is meant for clients, and so is not a secret."""
    if len(path) == 1:
        return path[0] in _served_keys(Config)
    if (entry := _entry(str(path[0]))) is not None:
        return len(path) > 2 and path[2] in _served_keys(entry)
    if len(path) < 4 or path[:2] != _REGISTRY:
        return False
    if path[3] != "implementation":
        return path[3] in _served_keys(ToolConfig)
    return len(path) > 4 and path[4] in _served_of_kind(data, path[:4])


@cache
def _entry(key: str) -> Any:
    """The record of each entry of the list, or object of any names, under ``key`` of a config."""
    shape = Config.model_fields[key].shape if key in Config.model_fields else {}
    return deferred_record(shape.get("values_schema") or shape.get("items_schema", ({},))[0])


def _served_of_kind(data: Any, path: Path) -> frozenset[str | int]:
    """The keys of the implementation at ``path``, as far as its kind is known."""
    for step in path:
        data = data[step]
    name = cast("dict[str, Any]", data).get("type") if isinstance(data, dict) else None
    return _served_keys(KINDS.config(name)) if name in KINDS.names else frozenset()


@cache
def _served_keys(record: Any) -> frozenset[str | int]:
    keys = record.model_fields.items()
    return frozenset(spelling for name, key in keys if key.served for spelling in (name, *key.spellings))
