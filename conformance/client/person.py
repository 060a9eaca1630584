"""What servers get of the person: forms filled in with their defaults, and no model."""

from __future__ import annotations

from typing import Any

from toolspan_bridge.client import (
    Elicitation,
    Elicited,
    FormField,
    Sampled,
    Sampling,
)
from toolspan_server.engines.upstreams import RefusedQuestion

from .arguments import value_for

_REJECTED = -1
"""The code that the specification's example gives for a sample that the person does not allow."""


class Agreeable:
    """Accepts every form as it is, with a value of its type in each required field without a default."""

    async def elicit(self, question: Elicitation) -> Elicited:
        """The form, accepted; a page is declined."""
        if question.mode == "url":
            return Elicited("decline")
        filled = {field.name: _filled(field) for field in question.fields if _is_wanted(field)}
        return Elicited("accept", filled)


class Reluctant:
    """Lets no server ask a model."""

    async def sample(self, sampling: Sampling) -> Sampled:
        """Refuse."""
        raise RefusedQuestion(_REJECTED, "User rejected sampling request")


def _is_wanted(field: FormField) -> bool:
    return field.required or field.default is not None


def _filled(field: FormField) -> Any:
    return value_for(field.schema) if field.default is None else field.default
