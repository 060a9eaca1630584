"""Texts as bytes, and back: Base64, hashes, UUIDs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import uuid

from ...common.json_values import shortened
from ...errors import InvalidParameters

ALGORITHMS = ("sha256", "sha512", "sha1", "md5", "blake2b")
NAMESPACES = ("dns", "url", "oid", "x500")


def encoded(text: str) -> str:
    """The Base64 of the UTF-8 of ``text``."""
    return base64.b64encode(_utf8(text)).decode()


def decoded(text: str) -> str:
    """The text whose UTF-8 ``text`` is the Base64 of; padding may be left out."""
    plain = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except UnicodeDecodeError:
        raise InvalidParameters(["'text' is the Base64 of bytes that are no UTF-8 text"]) from None
    except (binascii.Error, ValueError) as error:
        raise InvalidParameters([f"'text' is not Base64: {error}"]) from None


def hashed(text: str, algorithm: str) -> str:
    """The hash of the UTF-8 of ``text``, in hexadecimal."""
    return hashlib.new(algorithm, _utf8(text), usedforsecurity=False).hexdigest()


def random_uuid() -> str:
    """A version 4 UUID."""
    return str(uuid.uuid4())


def name_uuid(name: str, namespace: str) -> str:
    """The version 5 UUID of ``name`` in ``namespace``: one of ``NAMESPACES``, or a UUID."""
    if namespace in NAMESPACES:
        return str(uuid.uuid5(getattr(uuid, f"NAMESPACE_{namespace.upper()}"), name))
    try:
        return str(uuid.uuid5(uuid.UUID(namespace), name))
    except ValueError:
        known = ", ".join(NAMESPACES)
        fault = f"'namespace' must be one of {known}, or a UUID (got {shortened(namespace, 60)!r})"
        raise InvalidParameters([fault]) from None


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidParameters(["the text holds half of a surrogate pair, which UTF-8 cannot"]) from None
