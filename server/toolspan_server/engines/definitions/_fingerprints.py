"""The hash of a tool as its server lists it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

_KEY_DIGITS = 16
_MOST_KEYS = 32
_LONGEST_KEY = 64
_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """``digest`` is the SHA-256 of the tool's canonical JSON; ``keys`` a short one of the value of each key.

    Of more than 32 keys, the rest by name have one together, ``others``. ``size`` is the length of
    the JSON in characters.
    """

    digest: str
    keys: Mapping[str, str]
    size: int = 0

    def differs_in(self, other: Fingerprint) -> tuple[str, ...]:
        """The keys that only one of the two has, or that have another value there."""
        every = {**self.keys, **other.keys}
        return tuple(sorted(key for key in every if self.keys.get(key) != other.keys.get(key)))


def fingerprint(tool: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint of a tool, any JSON object. It is the same in whatever order the keys are."""
    parts = {key: canonical(tool[key]) for key in sorted(tool)}
    whole = "{" + ",".join(f"{json.dumps(key)}:{part}" for key, part in parts.items()) + "}"
    keys = {_shown(key): _short(part) for key, part in list(parts.items())[:_MOST_KEYS]}
    if len(parts) > _MOST_KEYS:
        keys[_OTHERS] = _short("".join(f"{key}:{part}" for key, part in list(parts.items())[_MOST_KEYS:]))
    return Fingerprint(sha256(whole.encode()).hexdigest(), keys, len(whole))


def _short(part: str) -> str:
    return sha256(part.encode()).hexdigest()[:_KEY_DIGITS]


def _shown(key: str) -> str:
    return ascii(key[:_LONGEST_KEY])[1:-1]


def canonical(value: Any) -> str:
    """``value`` as JSON with sorted keys, without spaces, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
