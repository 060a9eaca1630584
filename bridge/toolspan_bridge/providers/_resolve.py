"""From ``provider/model`` to who answers. Nothing of a provider is imported before it is named."""

from __future__ import annotations

import difflib
import re
from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import UsageError
from ._rows import ROWS

if TYPE_CHECKING:
    from ._contract import Provider
    from ._http import HttpSettings

DEFAULT_MODEL = "offline/keyword"
"""The model when none is named: it needs no key and no network, and is no language model."""

_MODULES = ("bedrock", "gemini", "offline", "ollama", "scripted")


def provider_names() -> tuple[str, ...]:
    """Every provider's name, sorted."""
    return tuple(sorted((*ROWS, *_MODULES)))


def split_model(text: str) -> tuple[str, str]:
    """``provider/model`` or ``provider:model`` as a pair. The model's own name may hold both signs.

    Raises ``UsageError`` when no provider of that name is known, or no model is named.
    """
    for separator in re.finditer(r"[/:]", text):
        provider, model = text[: separator.start()].strip().lower(), text[separator.end() :].strip()
        if provider in provider_names():
            if not model:
                break
            return provider, model
    word = re.split(r"[/:]", text, maxsplit=1)[0].strip().lower()
    if word in provider_names():
        raise UsageError(f"{text!r} names no model: write {word}/MODEL")
    close = difflib.get_close_matches(word, provider_names(), n=1, cutoff=0.6)
    hint = f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(provider_names())
    raise UsageError(f"no provider {word!r}: a model is written provider/model ({hint})")


def resolve_model(text: str, settings: HttpSettings | None = None) -> tuple[Provider, str]:
    """Who answers for the model ``text``, and the model's own name there. Nothing is asked of a network yet.

    Raises ``UsageError`` when the name means nothing, ``AuthError`` when the provider's key is missing.
    """
    name, model = split_model(text)
    if name in ("offline", "scripted"):
        return import_module(f".{name}", __package__).connect(model), model
    http = import_module("._http", __package__)
    settings = settings or http.HttpSettings()
    if name in ROWS:
        return import_module("._compatible", __package__).connect_row(name, settings), model
    return import_module(f".{name}", __package__).connect(model, settings), model
