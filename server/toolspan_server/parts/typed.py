"""What kinds and sources alike say of themselves: what they name, where calls go, what is secret."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from typing import Any

from ..problems import Path
from ..schema.records import Record, key
from .reference import Reference


class TypedConfig(Record, ABC):
    """The config of a part that is chosen by its ``type``."""

    type: str = key()

    def problems(self) -> Iterable[tuple[str, str]]:
        """Faults that no schema shows, as (key, message): an unknown handler, say."""
        return ()

    @classmethod
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        """The tools and the things of services that ``written``, its data before it is read, names."""
        return ()

    def secrets(self) -> Iterable[str]:
        """Values that no text may show, beyond those that ``${VAR}`` gave."""
        return ()

    def hosts(self) -> Iterable[str]:
        """The hosts that it, and calls of its tools, go to, as far as the config chooses them."""
        return ()

    def variables(self) -> Iterable[tuple[tuple[str, ...], str]]:
        """The variables that it names, other than by ``${VAR}``, and sends: the path of the key, the name."""
        return ()

    @classmethod
    def is_local(cls, path: Path) -> bool:
        """Whether only this machine sees the string at ``path`` inside, such as the name of a file."""
        return False
