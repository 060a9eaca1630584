"""Which deployment is asked first."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from typing import Protocol, TypeVar

__all__ = ["Weighted", "by_weight"]


class Weighted(Protocol):
    """What has a share of the requests."""

    @property
    def name(self) -> str:
        """The deployment's name."""
        ...

    @property
    def weight(self) -> float:
        """Its share beside the others, above 0."""
        ...


_T = TypeVar("_T", bound=Weighted)
_BITS = 53


def by_weight(deployments: Sequence[_T], conversation: str) -> list[_T]:
    """``deployments`` in the order in which they are asked: each is the first as often as its weight says,
    and always the same one in a ``conversation``, so that what its provider keeps of it is of use.

    (Weighted rendezvous hashing.)
    """
    about = conversation or secrets.token_hex(16)
    return sorted(deployments, key=lambda each: -math.log(_share(about, each.name)) / each.weight)


def _share(about: str, name: str) -> float:
    """A number above 0 and up to 1, by chance, the same for the same texts."""
    digest = hashlib.sha256(f"{about}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return ((int.from_bytes(digest[:8]) >> (64 - _BITS)) + 1) / (1 << _BITS)
