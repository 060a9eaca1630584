"""Renames property keys to the characters that a provider allows."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ..json_values import as_list, as_object
from ._walk import (
    Change,
    Note,
    Schema,
    Step,
    escape,
    everywhere,
    object_schemas_in,
)

_LONGEST = 64


def key_table(schema: Schema, legal: re.Pattern[str]) -> dict[str, str]:
    """Each illegal property key of the schema, and a unique legal key for it."""
    keys = {key for node in object_schemas_in(schema) for key in _keys_of(node)}
    taken = {key for key in keys if legal.fullmatch(key)}
    table: dict[str, str] = {}
    for key in sorted(keys - taken):
        if key not in taken:
            table[key] = _free(key, taken)
            taken.add(table[key])
    return table


def legal_keys(legal: re.Pattern[str]) -> Step:
    """The step that renames what ``legal`` does not match, and keeps the original key in the description."""

    def step(schema: Schema) -> tuple[Schema, list[Change]]:
        table = key_table(schema, legal)
        if not table:
            return schema, []
        return everywhere(lambda node, pointer, note: _visit(node, pointer, note, table))(schema)

    return step


def _visit(node: Schema, pointer: str, note: Note, table: dict[str, str]) -> Schema:
    properties = as_object(node.get("properties"))
    if properties is not None:
        node["properties"] = {
            table.get(key, key): _named(key, inner, table) for key, inner in properties.items()
        }
        for key in (key for key in properties if key in table):
            where = f"{pointer}/properties/{escape(key)}"
            note(where, "property-key", f"sent as {table[key]!r} and renamed on the way back")
    if (required := as_list(node.get("required"))) is not None:
        node["required"] = [table.get(key, key) for key in required]
    for keyword in ("dependentRequired", "dependentSchemas"):
        needs = as_object(node.get(keyword))
        if needs is not None:
            node[keyword] = {table.get(key, key): _renamed_list(value, table) for key, value in needs.items()}
    for keyword in ("default", "examples"):
        if keyword in node:
            node[keyword] = _renamed(node[keyword], table)
    return node


def _named(key: str, inner: Any, table: dict[str, str]) -> Any:
    node = as_object(inner)
    if key not in table or node is None:
        return inner
    return {
        **node,
        "description": " ".join(filter(None, (node.get("description"), f"(Really named {key!r}.)"))),
    }


def _renamed_list(value: Any, table: dict[str, str]) -> Any:
    listed = as_list(value)
    return value if listed is None else [table.get(key, key) for key in listed]


def _renamed(value: Any, table: dict[str, str]) -> Any:
    if (inside := as_object(value)) is not None:
        return {table.get(key, key): _renamed(inner, table) for key, inner in inside.items()}
    listed = as_list(value)
    return value if listed is None else [_renamed(inner, table) for inner in listed]


def _keys_of(node: Schema) -> set[str]:
    keys = set(as_object(node.get("properties")) or {}) | {
        str(key) for key in as_list(node.get("required")) or []
    }
    for name, needs in (as_object(node.get("dependentRequired")) or {}).items():
        keys |= {name, *map(str, as_list(needs) or [])}
    return keys | set(as_object(node.get("dependentSchemas")) or {})


def _free(key: str, taken: set[str]) -> str:
    spelled = re.sub(r"[^A-Za-z0-9_]", "_", key)
    spelled = spelled if re.match(r"[A-Za-z_]", spelled) else f"_{spelled}"
    if len(spelled) <= _LONGEST and spelled not in taken:
        return spelled
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    for digits in range(8, 57, 8):
        free = f"{spelled[: _LONGEST - 1 - digits]}_{digest[:digits]}"
        if free not in taken:
            return free
    raise AssertionError("48 bits and more of SHA-256 were all taken")
