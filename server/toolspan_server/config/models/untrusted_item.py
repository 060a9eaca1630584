"""An item of a config that needs consent, because the config was found, not named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override


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
        from ...common.visible import visible_line

        return visible_line(f"{self.what}  ({self.file}: {self.place})")
