"""The common interface of kinds and sources: their references, target hosts and secrets."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ..problems import Path
from ..schema.keys import Inert
from ..schema.records import Record, key
from .reference import Reference


class TypedConfig(Record, ABC):
    """The config of a part that is selected by its ``type``."""

    inert: ClassVar[Inert | None] = None
    """Why the part may be used in a folder that nobody trusts; without it, it is left out there."""

    type: str = key()

    def problems(self) -> Iterable[tuple[str, str]]:
        """Faults that a schema cannot express, as (key, message), such as an unknown handler."""
        return ()

    @classmethod
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        """The names of tools and service entries in ``written``, the raw data."""
        return ()

    def secrets(self) -> Iterable[str]:
        """Values that must not be shown, besides those of ``${VAR}``."""
        return ()

    def hosts(self) -> Iterable[str]:
        """The hosts that it and its tools' calls connect to, as far as the config determines them."""
        return ()

    def variables(self) -> Iterable[tuple[tuple[str, ...], str]]:
        """The variables that it names, other than by ``${VAR}``, and sends: the path of the key, the name."""
        return ()

    @classmethod
    def is_local(cls, path: Path) -> bool:
        """Whether the string at ``path`` is only used on this machine, such as the name of a file."""
        return False
