"""Which keys of an issuer may decide about tokens: public ones, for signatures, and strong enough."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any

LEAST_RSA_BITS = 2_048
_MOST_RSA_BITS = 16_384
_MOST_EXPONENT_BITS = 64
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_EDWARDS = ("Ed25519", "Ed448")


def weakness(key: Mapping[str, Any]) -> str | None:
    """Why ``key``, a JSON Web Key, is not used; ``None`` when it is.

    RFC 7517, 4.2 and 4.3: ``use`` and ``key_ops``; RFC 7518, 3.3: RSA keys have 2,048 bits at least.
    """
    operations: Any = key.get("key_ops")
    if key.get("use", "sig") != "sig" or (operations is not None and not _verifies(operations)):
        return "it is not for signatures"
    if "d" in key or "k" in key:
        return "it is secret"
    kind = key.get("kty")
    if kind == "RSA":
        return _weakness_of_rsa(key)
    if kind == "EC" and key.get("crv") in _CURVES.values():
        return None
    if kind == "OKP" and key.get("crv") in _EDWARDS:
        return None
    return "it is of a kind or on a curve that is not taken"


def suits(key: Mapping[str, Any], algorithm: str) -> bool:
    """Whether ``key`` makes signatures of ``algorithm``."""
    if key.get("alg", algorithm) != algorithm:
        return False
    if algorithm in _CURVES:
        return key.get("kty") == "EC" and key.get("crv") == _CURVES[algorithm]
    return key.get("kty") == ("OKP" if algorithm == "EdDSA" else "RSA")


def _verifies(operations: Any) -> bool:
    return isinstance(operations, list) and "verify" in operations


def _weakness_of_rsa(key: Mapping[str, Any]) -> str | None:
    modulus, exponent = _number(key.get("n")), _number(key.get("e"))
    if not LEAST_RSA_BITS <= modulus.bit_length() <= _MOST_RSA_BITS:
        return f"it has not {LEAST_RSA_BITS:,} to {_MOST_RSA_BITS:,} bits"
    if exponent < 3 or exponent % 2 == 0 or exponent.bit_length() > _MOST_EXPONENT_BITS:
        return "its exponent is none"
    return None


def _number(text: Any) -> int:
    """A number as a JSON Web Key has it; 0 when it is none."""
    if not isinstance(text, str) or not text.isascii():
        return 0
    try:
        return int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
    except ValueError:
        return 0
