"""What a sort of content must offer so that an entry of ``resources`` can have it."""

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
    """The keys of one sort of content, which are keys of an entry: the one called like the module has it.

    ``entry`` is the whole entry of ``resources``, a ``ResourceConfig``. What the live resource needs is
    imported by ``live``: the module itself is imported with every config.
    """

    order: ClassVar[int]
    """Its place among the sorts, where they are listed."""

    many: ClassVar[bool] = False
    """Whether one entry is many resources, whose URIs differ in their variables."""

    only_here: ClassVar[Mapping[str, str]] = {}
    """What is wrong with the keys that no other content has, where another content is given."""

    @classmethod
    def check_entry(cls, entry: Any) -> None:
        """Raise ``Faulty`` when the entry does not go with this content: without a name, say."""
        if entry.name is None:
            raise Faulty(Fault((), "'name' is missing", "add name"))

    @classmethod
    @abstractmethod
    def live(cls, entry: Any, base: Path) -> Any:
        """The live resource or resources, a ``resources.Entry``. Paths start at ``base``."""


class Contents(Parts[ResourceContent]):
    """The sorts of content, by the key of an entry that has the content."""

    @cached_property
    def ordered(self) -> dict[str, type[ResourceContent]]:
        """All of them, in their order."""
        found = {name: self.config(name) for name in self.names}
        return dict(sorted(found.items(), key=lambda each: each[1].order))


CONTENTS = Contents("toolspan_server.resources.contents")
"""Every sort of content that an entry of ``resources`` may have."""
