"""References from a tool or a source to other parts of the config."""

from __future__ import annotations

from typing import NamedTuple

from ..problems import Path


class Reference(NamedTuple):
    """A reference at ``path`` inside a part to ``name`` in ``to``: ``tools``, or a service."""

    path: Path
    to: str
    name: object
