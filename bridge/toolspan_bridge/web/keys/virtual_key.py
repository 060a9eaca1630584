"""A virtual key as it is kept: everything but the key itself, which is only known as a hash."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from .refusals import ModelNotAllowedError, ToolsetNotAllowedError

__all__ = ["KeyLimits", "VirtualKey", "digest_of", "id_in", "is_same", "iso", "new_secret"]

_SHAPE = re.compile(r"sk-toolspan-([0-9a-f]{12})-([A-Za-z0-9_-]{43})")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """What a key allows. ``models`` are globs of ``provider/model``; ``toolsets`` names of the config's
    toolsets, all tools where there is none. A minute is any 60 seconds; budgets are US dollars for a day, a
    month (both in UTC) and in all. ``None`` is no limit."""

    models: tuple[str, ...] = ("*",)
    toolsets: tuple[str, ...] = ()
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    usd_per_day: float | None = None
    usd_per_month: float | None = None
    usd_in_all: float | None = None

    @property
    def has_budget(self) -> bool:
        """Whether what its requests cost is limited."""
        return any(each is not None for each in (self.usd_per_day, self.usd_per_month, self.usd_in_all))

    def as_dict(self) -> dict[str, Any]:
        """Every limit by its name, ``null`` where there is none."""
        return {
            "models": list(self.models),
            "toolsets": list(self.toolsets),
            "requests_per_minute": self.requests_per_minute,
            "tokens_per_minute": self.tokens_per_minute,
            "usd_per_day": self.usd_per_day,
            "usd_per_month": self.usd_per_month,
            "usd_in_all": self.usd_in_all,
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> KeyLimits:
        """The limits in what ``as_dict`` gave."""
        values: dict[str, Any] = {**data}
        values |= {name: tuple(data[name]) for name in ("models", "toolsets")}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class VirtualKey:
    """A key: ``id`` is a part of it and no secret. ``created``, ``expires`` and ``revoked`` are seconds since
    1970, the latter two ``None`` where there is no such time."""

    id: str
    name: str
    created: float
    limits: KeyLimits
    expires: float | None = None
    revoked: float | None = None

    def state(self, now: float) -> str:
        """``active``, ``expired`` or ``revoked``."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "active"

    def allows_model(self, model: str) -> bool:
        """Whether the key may ask ``model``, written ``provider/model``."""
        return any(fnmatchcase(model.lower(), each.lower()) for each in self.limits.models)

    def check_model(self, model: str) -> None:
        """Raise ``ModelNotAllowedError`` unless the key may ask ``model``."""
        if not self.allows_model(model):
            allowed = ", ".join(self.limits.models[:_SHOWN])
            raise ModelNotAllowedError(
                f"the key {self.name!r} may not ask {model} (it may: {allowed}; GET /v1/models lists them)"
            )

    def toolset(self, wanted: str) -> str:
        """The toolset of a request that names ``wanted``, or ``""`` and so none: then the key's first one, or
        ``""`` where it may use all tools. Raises ``ToolsetNotAllowedError``."""
        allowed = self.limits.toolsets
        if not allowed or wanted in allowed:
            return wanted
        if not wanted:
            return allowed[0]
        raise ToolsetNotAllowedError(
            f"the key {self.name!r} may not use the toolset {wanted!r} "
            f"(it may: {', '.join(allowed[:_SHOWN])})"
        )

    def as_dict(self, now: float) -> dict[str, Any]:
        """``{"id", "name", "state", "created", "expires", "revoked"}`` and every limit; times in ISO 8601."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state(now),
            "created": iso(self.created),
            "expires": None if self.expires is None else iso(self.expires),
            "revoked": None if self.revoked is None else iso(self.revoked),
            **self.limits.as_dict(),
        }


def new_secret() -> tuple[str, str]:
    """A new key's id, and the key: 256 bits of the system's randomness."""
    key_id = secrets.token_hex(6)
    return key_id, f"sk-toolspan-{key_id}-{secrets.token_urlsafe(32)}"


def id_in(secret: str) -> str:
    """The id in a key, ``""`` in what is none of ours."""
    found = _SHAPE.fullmatch(secret)
    return "" if found is None else found[1]


def digest_of(secret: str) -> bytes:
    """The hash by which a key is known. It needs no salt and no slowness: nobody guesses 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def is_same(digest: bytes, secret: str) -> bool:
    """Whether ``secret`` has this hash, in a time that tells nothing of it."""
    return hmac.compare_digest(digest, digest_of(secret))


def iso(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
