"""What a config was loaded from, as read: the texts of its files, and of the Python files they name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...schema.positions import parse_document


@dataclass(frozen=True)
class Original:
    """One file of a config: its ``text``, and by name the bytes of each ``.py`` file that it names under
    ``handlers``, and of each that holds hooks."""

    path: Path
    text: str
    handlers: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    hooks: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    @cached_property
    def data(self) -> Any:
        """The file's data with ``${VAR}`` as it is written there."""
        return parse_document(self.text, str(self.path)).data


def fingerprint(originals: Sequence[Original]) -> str:
    """A SHA-256 that is the same only for the same texts."""
    parts = [[digest(each.text.encode("utf-8", "surrogatepass")), *_handlers(each)] for each in originals]
    return digest(json.dumps(parts).encode())


def handler_pins(originals: Sequence[Original]) -> dict[Path, str]:
    """The hash of each handlers' file, by its path."""
    return {
        each.path.parent / name: digest(text) for each in originals for name, text in each.handlers.items()
    }


def digest(data: bytes) -> str:
    """The SHA-256 of ``data``, in hexadecimal digits."""
    from hashlib import sha256

    return sha256(data).hexdigest()


def _handlers(original: Original) -> list[list[str]]:
    return sorted([name, digest(text)] for name, text in original.handlers.items())
