"""What a tool or a source names elsewhere in the config."""

from __future__ import annotations

from typing import NamedTuple

from ..problems import Path


class Reference(NamedTuple):
    """At ``path`` inside a part stands the ``name`` of one of ``to``: ``tools``, or a service."""

    path: Path
    to: str
    name: object
