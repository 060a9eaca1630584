"""The word ``best``, which stands for the cheapest model that is validated with the tools."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["BEST", "best_of"]

BEST = "best"
"""Stands for the cheapest validated model; ``best:PROVIDER`` for that of one provider."""


def best_of(text: str, own: Iterable[str] = ()) -> str | None:
    """The provider of ``best:PROVIDER``, empty for ``best`` alone; ``None`` where ``text`` names a model.

    A provider of the config's ``own`` that has this name is a provider.
    """
    word, separator, provider = text.strip().partition(":")
    if word.strip().lower() != BEST or BEST in own or (separator and not provider.strip()):
        return None
    return provider.strip().lower()
