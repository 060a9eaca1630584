"""What a server's 401 or 403 asks for: the ``Bearer`` (RFC 6750) or ``DPoP`` (RFC 9449) challenge of its
``WWW-Authenticate``."""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpx2

_LETTER = r"[!#$%&'*+.^_`|~0-9A-Za-z-]"
_TOKEN = rf"{_LETTER}++"
_PARAMETER = re.compile(
    rf"\s*({_TOKEN})\s*=\s*(?:\"((?:[^\"\\]|\\.)*+)\"|({_LETTER}[^,\s]*+))\s*(?:,|$|(?=\s))"
)
_SCHEME = re.compile(rf"[\s,]*({_TOKEN})(?:\s+|$)(?!=)")
_UNREADABLE = re.compile(rf"{_TOKEN}|.", re.DOTALL)
_MAX_LENGTH = 8_192


@dataclass(frozen=True, slots=True)
class Challenge:
    """A server's demand. ``asks_for_token``; ``wants_more``: for one with more ``scopes``; ``takes_proof``:
    for one that is bound to a key (DPoP)."""

    status: int = 401
    asks_for_token: bool = False
    takes_proof: bool = False
    scopes: tuple[str, ...] = ()
    resource_metadata: str = ""
    error: str = ""

    @property
    def wants_nonce(self) -> bool:
        """Whether the token was good, but its proof lacks the server's nonce (RFC 9449, section 9)."""
        return self.error == "use_dpop_nonce"

    @property
    def wants_more(self) -> bool:
        """Whether the token was good, but is not enough for this request."""
        return self.status == 403


def challenge_of(response: httpx2.Response) -> Challenge | None:
    """The challenge of ``response``, or ``None`` when it is not about authorization.

    A 403 without ``insufficient_scope`` forbids: another sign-in would not help.
    """
    if response.status_code not in (401, 403):
        return None
    found = _by_scheme(", ".join(response.headers.get_list("www-authenticate"))[:_MAX_LENGTH])
    values = {**found.get("bearer", {}), **found.get("dpop", {})}
    if response.status_code == 403 and values.get("error") != "insufficient_scope":
        return None
    return Challenge(
        response.status_code,
        "bearer" in found or "dpop" in found,
        "dpop" in found,
        tuple(values.get("scope", "").split()),
        values.get("resource_metadata", ""),
        values.get("error", ""),
    )


def _by_scheme(header: str) -> dict[str, dict[str, str]]:
    """The parameters of the first challenge of each scheme, by its name in lower case."""
    at, scheme = 0, ""
    found: dict[str, dict[str, str]] = {}
    while at < len(header):
        if scheme and (parameter := _PARAMETER.match(header, at)):
            name, quoted, plain = parameter.groups()
            value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
            found[scheme].setdefault(name.lower(), value)
            at = parameter.end()
        elif named := _SCHEME.match(header, at):
            scheme = named[1].lower()
            found.setdefault(scheme, {})
            at = named.end()
        else:
            passed = _UNREADABLE.match(header, at)
            at = at + 1 if passed is None else passed.end()
    return found
