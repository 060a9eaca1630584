"""A variable of the environment whose value leaves the machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SentVariable:
    """The variable ``name`` stands at ``place`` (``$.tools.registry[0]…``) of ``file``; its value goes to
    ``hosts``. Unless it goes there ``directly``, a model or a pipeline can take it to any of them."""

    file: Path
    place: str
    name: str
    hosts: tuple[str, ...]
    directly: bool
