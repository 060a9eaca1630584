"""A key that is equal only for identical objects: for caches of what was computed from them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Generic, TypeVar, cast

from typing_extensions import override

_T = TypeVar("_T")


class IdentityKey(Generic[_T]):
    """``items``, compared by identity. It references them, so no other object can get their identity."""

    __slots__ = ("_hash", "items")

    def __init__(self, items: Iterable[_T]) -> None:
        self.items = tuple(items)
        self._hash = hash(tuple(map(id, self.items)))

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdentityKey):
            return NotImplemented
        theirs = cast("IdentityKey[_T]", other).items
        return len(self.items) == len(theirs) and all(map(is_, self.items, theirs))

    @override
    def __hash__(self) -> int:
        return self._hash
