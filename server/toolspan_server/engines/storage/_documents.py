"""A document as it is stored: one JSON object, and its version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from ...calls.storage import Document
from ._failures import damaged, not_json, too_large

LONGEST = 64 << 20
"""The largest document that is read, in bytes: no setting lets a larger one be written."""


def encoded(data: Mapping[str, Any], document_bytes: int) -> bytes | None:
    """``data`` as UTF-8; nothing for an empty document.

    Raises ``ToolFailure`` when it is no JSON, or larger than ``document_bytes``.
    """
    if not data:
        return None
    try:
        try:
            stored = json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:  # halves of surrogate pairs, which only escapes can hold
            stored = json.dumps(data, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise not_json(error) from None
    if len(stored) > document_bytes:
        raise too_large(len(stored), document_bytes)
    return stored


def decoded(stored: bytes | None, where: str) -> Document:
    """The document that was stored; ``where`` is for whoever runs the server. Raises ``ToolFailure`` when it
    is damaged."""
    if stored is None:
        return Document({}, "")
    if len(stored) > LONGEST:
        raise damaged(where, f"it is larger than {LONGEST:,} bytes")
    try:
        data = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise damaged(where, str(error) or type(error).__name__) from None
    if not isinstance(data, dict):
        raise damaged(where, "it is no JSON object")
    return Document(cast("dict[str, Any]", data), version_of(stored))


def version_of(stored: bytes | None) -> str:
    """The version of what is stored: the hash of its bytes, ``""`` for nothing."""
    return "" if stored is None else hashlib.sha256(stored).hexdigest()
