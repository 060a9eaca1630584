"""The default model: does its provider have it?"""

from __future__ import annotations

import os

from ....errors import UsageError
from ....providers import DEFAULT_MODEL, WithheldProvider, own_providers, split_model
from ....providers.best import best_of
from ....providers.listing import ModelLister
from ....sessions.chosen.default_model import set_default_model
from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 60
_UNLISTED = ("offline", "scripted")


async def check(around: Surroundings) -> list[Finding]:
    """The model that answers when none is named, as its provider lists it."""
    model = set_default_model()
    set_by = "$TOOLSPAN_MODEL" if os.environ.get("TOOLSPAN_MODEL") else "models --default"
    own = own_providers(around.config)
    if best_of(model, own) is not None:
        return [ok(f"the default model is {model} ({set_by}): the cheapest that is validated with the tools")]
    try:
        provider, name = split_model(model, own)
    except UsageError as error:
        return [
            problem(f"the default model ({set_by}): {error.message}", "toolspan models --default MODEL", 2)
        ]
    provider = provider.rpartition(":")[2]
    if model == DEFAULT_MODEL:
        todo = "toolspan models lists what there is, toolspan models --default MODEL sets it"
        return [
            warning(f"no default model is set: {DEFAULT_MODEL} answers, which is no language model", todo)
        ]
    if provider in _UNLISTED:
        return [ok(f"the default model is {model} ({set_by})")]
    if isinstance(own.get(provider), WithheldProvider):
        return [warning(f"{provider} was not asked for its models: nobody trusts this folder", "add --trust")]
    (listed,) = await ModelLister(own).listed([provider])
    if listed.error is not None:
        why = f"the default model {model} ({set_by}) cannot answer: {listed.error.message}"
        return [
            problem(
                why, "correct that, or set another: toolspan models --default MODEL", listed.error.exit_code
            )
        ]
    if name not in {facts.model for facts in listed.models}:
        todo = f"toolspan models --provider {provider} lists those that there are"
        return [warning(f"{provider} does not list the default model {name} ({set_by})", todo)]
    return [ok(f"the default model is {model} ({set_by}), and {provider} has it")]
