"""A tool's arguments from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import UsageError


def parse_arguments(pairs: Sequence[str], document: str | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that ``KEY=VALUE`` pairs and a JSON ``document`` (``-``: stdin) give; pairs win.

    A value is text where ``schema`` says so, JSON elsewhere, and text where it is no JSON.
    Raises ``UsageError``.
    """
    arguments = _object(document) if document is not None else {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{pair!r} is no KEY=VALUE (write for example location=Paris)")
        arguments[key] = _value(value, schema.get("properties", {}).get(key))
    return arguments


def _object(document: str) -> dict[str, Any]:
    text = sys.stdin.read() if document == "-" else document
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--arguments is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError('--arguments needs a JSON object, for example \'{"location": "Paris"}\'')
    return value  # pyright: ignore[reportUnknownVariableType] - json.loads gives str keys


def _value(text: str, schema: object) -> Any:
    if isinstance(schema, Mapping) and schema.get("type") == "string":  # pyright: ignore[reportUnknownMemberType]
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
