"""A request as it is on the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request as it is sent: address, headers (the key among them), and the exact bytes of the body."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def encode(body: Any) -> bytes:
    """``body`` as compact JSON. Lone surrogates, which UTF-8 cannot encode, become ``?``."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
