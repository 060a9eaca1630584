"""The model that answers when none is named."""

from __future__ import annotations

import os

from ...errors import UsageError
from ...providers import DEFAULT_MODEL
from ...providers.best import best_of
from .user_config import user_default_model

__all__ = ["default_model", "set_default_model"]


def set_default_model() -> str:
    """$TOOLSPAN_MODEL, else the user's default model, else ``offline/keyword``. Nobody is asked."""
    return os.environ.get("TOOLSPAN_MODEL") or user_default_model() or DEFAULT_MODEL


def default_model() -> str:
    """The same where one certain model is needed. Raises ``UsageError`` where it is ``best``, which is chosen
    among those that are validated with the tools of a question."""
    model = set_default_model()
    if best_of(model) is not None:
        raise UsageError(
            f"the default model is {model}, which is chosen by what was validated with a question's tools: "
            "name a model here with --model PROVIDER/MODEL"
        )
    return model
