"""Estimates the tokens of a request without the model's own tokenizer.

A piece counts as a token: up to eight letters, two digits, two signs, a run of blanks or a line break, or one
character that controls or is beyond ASCII; a single blank belongs to the word after it. For English and JSON
that is a little more than common tokenizers count, so that a context is not chosen too small. An image counts
as ``IMAGE_TOKENS``, whatever its size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .json_types import is_list, is_object

IMAGE_TOKENS = 1_600
_MESSAGE_TOKENS = 4
_SLICE = 32_768
_PIECE = re.compile(r"[A-Za-z]{1,8}|[0-9]{1,2}|[!-/:-@\[-`{-~]{1,2}|[^\x09\x0a\x20-\x7e]|[ \t]{2,}|\n+")


def text_tokens(text: str) -> int:
    """The estimated tokens of ``text``. A long one is read in slices: one reading keeps Python's lock."""
    starts = range(0, len(text), _SLICE)
    return sum(_PIECE.subn("", text[start : start + _SLICE])[1] for start in starts)


def request_tokens(body: Mapping[str, Any]) -> int:
    """The estimated tokens of the messages and tools of an Ollama request."""
    return _tokens(body.get("messages", [])) + _tokens(body.get("tools", []))


def _tokens(value: Any) -> int:
    if isinstance(value, str):
        return text_tokens(value)
    if is_list(value):
        return sum(_tokens(item) for item in value)
    if is_object(value):
        own = _MESSAGE_TOKENS if "role" in value else 0
        return own + sum(_entry(key, item) for key, item in value.items())
    return 1


def _entry(key: str, value: Any) -> int:
    if key == "images" and is_list(value):
        return len(value) * IMAGE_TOKENS
    return text_tokens(key) + 1 + _tokens(value)
