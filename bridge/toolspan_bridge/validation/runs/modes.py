"""The modes in which a model is asked: by its native calls, or with the tools in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from ...errors import UsageError
from ...providers.resolve import bare_model

__all__ = ["Mode", "in_modes", "without_prompt"]

Mode = Literal["native", "prompt"]


def in_modes(models: Iterable[str], modes: Sequence[Mode], own: Iterable[str] = ()) -> tuple[str, ...]:
    """Each of ``models`` in each of ``modes``; as it is written where there is no mode. ``own`` are the
    config's providers. A model without a prompt, which is no language model, is left out of that mode.

    Raises ``UsageError`` for an unknown provider, and where no model is left.
    """
    if not modes:
        return tuple(dict.fromkeys(models))
    own = tuple(own)
    bare = dict.fromkeys(bare_model(model, own) for model in models)
    found = [_named(model, mode) for model in bare for mode in dict.fromkeys(modes)]
    named = tuple(model for model in found if model)
    if not named:
        raise UsageError(f"{', '.join(bare)} takes no prompt: leave --mode prompt out, or name another model")
    return named


def without_prompt(models: Iterable[str], modes: Sequence[Mode], own: Iterable[str] = ()) -> list[str]:
    """Those of ``models`` that ``in_modes`` leaves out of the prompt mode that is asked for."""
    if "prompt" not in modes:
        return []
    own = tuple(own)
    return [
        model for model in dict.fromkeys(bare_model(each, own) for each in models) if _is_no_language(model)
    ]


def _named(model: str, mode: Mode) -> str:
    if mode == "native":
        return model
    return "" if _is_no_language(model) else f"prompt:{model}"


def _is_no_language(model: str) -> bool:
    return model.startswith(("offline/", "scripted/"))
