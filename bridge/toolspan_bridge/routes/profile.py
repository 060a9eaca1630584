"""The caller's profile: what is known of who asks, by name. Rules match it, and prompts name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolspan_server.config import profile_text

__all__ = ["matches", "profile_of"]


def profile_of(values: Mapping[str, Any]) -> dict[str, str]:
    """The profile in ``values``, such as the claims of a token or named headers of a request: of each that
    is a text, a number or true or false, its text. Others are left out."""
    return {name: text for name, value in values.items() if (text := profile_text(value)) is not None}


def matches(wanted: Mapping[str, Any], profile: Mapping[str, str]) -> bool:
    """Whether ``profile`` has every value that is ``wanted``; of a list, one of its values."""
    return all(profile.get(name) in _texts(value) for name, value in wanted.items())


def _texts(value: Any) -> list[str | None]:
    values = cast("Sequence[Any]", value) if isinstance(value, list) else [value]
    return [text for each in values if (text := profile_text(each)) is not None]
