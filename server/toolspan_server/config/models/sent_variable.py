"""What of a config needs consent: variables whose values leave the machine, and all other items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override


@dataclass(frozen=True, slots=True)
class SentVariable:
    """The variable ``name`` stands at ``place`` (``$.tools.registry[0]…``) of ``file``; its value goes to
    ``hosts``. Unless it goes there ``directly``, a model or a pipeline can take it to any of them."""

    file: Path
    place: str
    name: str
    hosts: tuple[str, ...]
    directly: bool


@dataclass(frozen=True, slots=True)
class UntrustedItem:
    """One item that is run, connected to or sent when a config is used: ``file`` contains it at ``place``,
    such as ``$.mcpServers.files``.

    ``what`` is the command line, the address, the module, or the variable and where it goes; ``contents`` are
    hashes, by name, of all that it consists of, what is not shown among it.
    """

    file: Path
    place: str
    what: str
    contents: Mapping[str, str] = field(default_factory=dict[str, str])

    @override
    def __str__(self) -> str:
        from ...common.visible import written_out_line

        return written_out_line(f"{self.what}  ({self.file}: {self.place})")
