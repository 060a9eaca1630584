"""The caller's profile: what is known of who asks, by name. Rules match it, and prompts name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolspan_server.config import profile_text

__all__ = ["Profile", "matches", "profile_of", "written"]

Profile = Mapping[str, str | tuple[str, ...]]
"""By name a text, or the several that hold at once, such as the groups of a user."""


def profile_of(values: Mapping[str, Any]) -> dict[str, str | tuple[str, ...]]:
    """The profile in ``values``, such as the claims of a token or named headers of a request: of each that
    is a text, a number or true or false, its text; of a list, those of its values. Others are left out."""
    found: dict[str, str | tuple[str, ...]] = {}
    for name, value in values.items():
        if isinstance(value, list | tuple):
            found[name] = _texts(value)
        elif (text := profile_text(value)) is not None:
            found[name] = text
    return found


def matches(wanted: Mapping[str, Any], profile: Profile) -> bool:
    """Whether ``profile`` has every value that is ``wanted``; of a list, one of its values. Of several values
    in the profile one is enough."""
    return all(
        name in profile and not set(_texts(value)).isdisjoint(_texts(profile[name]))
        for name, value in wanted.items()
    )


def written(profile: Profile) -> dict[str, str]:
    """``profile`` as prompts have it: several values with commas."""
    return {name: ", ".join(_texts(value)) for name, value in profile.items()}


def _texts(value: Any) -> tuple[str, ...]:
    values = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]
    return tuple(text for each in values if (text := profile_text(each)) is not None)
