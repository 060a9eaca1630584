"""The interface of content types of ``resources`` entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from ..problems import Fault, Faulty
from ..schema.records import Record
from .discovery import Parts


class ResourceContent(Record, ABC):
    """The config keys of one content type, which are keys of an entry; the main one is named like the module.

    ``entry`` is the whole entry of ``resources``, a ``ResourceConfig``. ``live`` imports what the live
    resource needs: the module itself is imported with every config.
    """

    order: ClassVar[int]
    """The position in listings of the content types."""

    many: ClassVar[bool] = False
    """Whether one entry stands for many resources, whose URIs contain variables."""

    only_here: ClassVar[Mapping[str, str]] = {}
    """The message about this type's own keys when the entry has another content."""

    @classmethod
    def check_entry(cls, entry: Any) -> None:
        """Raise ``Faulty`` when the entry lacks something that this content needs, such as a name."""
        if entry.name is None:
            raise Faulty(Fault((), "'name' is missing", "add name"))

    @classmethod
    @abstractmethod
    def live(cls, entry: Any, base: Path) -> Any:
        """The live resource or resources, a ``resources.Entry``. Paths start at ``base``."""


class Contents(Parts[ResourceContent]):
    """The content types, by their key in an entry."""

    @cached_property
    def ordered(self) -> dict[str, type[ResourceContent]]:
        """All of them, sorted by ``order``."""
        found = {name: self.config(name) for name in self.names}
        return dict(sorted(found.items(), key=lambda each: each[1].order))


CONTENTS = Contents("toolspan_server.resources.contents")
"""Every content type that an entry of ``resources`` may have."""
