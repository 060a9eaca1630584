"""Maps places in a compiled schema to places in the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..json_values import as_object
from ._refs import find, found
from ._root import WRAPPER
from ._walk import Change, escape, tokens

_OLD = {"$defs": "definitions", "anyOf": "oneOf", "items": "additionalItems", "prefixItems": "items"}


class Places:
    """The places of ``original``: ``wrapped`` if its root was put into a property, ``keys`` maps renamed
    property keys (original to sent).
    """

    def __init__(self, original: Any, wrapped: bool = False, keys: Mapping[str, str] | None = None) -> None:
        self._original = original
        self._wrapped = wrapped
        self._back = {sent: key for key, sent in (keys or {}).items()}

    def locate(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        """``changes`` with pointers into the original, each once."""
        placed = (replace(change, pointer=self.of(change.pointer)) for change in changes)
        return tuple(dict.fromkeys(placed))

    def of(self, pointer: str) -> str:
        """The nearest place in the original: through wrappers, old names and followed references."""
        prefix = f"/properties/{WRAPPER}"
        if self._wrapped and (pointer == prefix or pointer.startswith(f"{prefix}/")):
            pointer = pointer[len(prefix) :]
        path: list[str] = []
        ahead = iter(tokens(pointer))
        for token in ahead:
            step = self._step(path, token)
            if step is None:
                path = self._followed(path)
                step = self._step(path, token)
            if step is None and token == "anyOf":
                next(ahead, None)  # put around the original by a step
                continue
            if step is None:
                break
            path.append(step)
        return "".join(f"/{escape(token)}" for token in path)

    def _step(self, path: list[str], token: str) -> str | None:
        spellings = filter(None, (token, _OLD.get(token), self._back.get(token)))
        return next((name for name in spellings if found(find(self._original, [*path, name]))), None)

    def _followed(self, path: list[str]) -> list[str]:
        for _ in range(10):
            ref = (as_object(find(self._original, path)) or {}).get("$ref")
            if not isinstance(ref, str) or not ref.startswith("#"):
                return path
            path = tokens(ref[1:])
        return path
