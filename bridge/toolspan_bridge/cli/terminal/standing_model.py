"""The model that answers when none is named: set by the user, or asked for once."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ...errors import UsageError
from ...providers import DEFAULT_MODEL, split_model
from ...providers.best import best_of
from ...sessions.chosen.user_config import set_user_default_model, user_default_model
from .output import print_message, print_note
from .program import command_line
from .questions.one_question import has_terminal, one_question, read_line

_SHOWN = 5


async def standing_model() -> str:
    """The user's default model. Where none is set and several models could answer, a person at a terminal is
    asked once, and the answer is kept; elsewhere it is ``offline/keyword``, and stderr says why.

    Raises ``UsageError`` where the user's config cannot be used, ``click.Abort`` for Ctrl+D.
    """
    if model := user_default_model():
        return model
    from ...providers.usable import may_have_credentials, may_have_local_server

    if has_terminal():
        if may_have_credentials(os.environ) or may_have_local_server(os.environ):
            return await _asked_once()
    elif may_have_credentials(os.environ):
        _say_why()
    return DEFAULT_MODEL


def _say_why() -> None:
    from ...providers.usable import is_local, usable_providers

    with_key = [name for name in usable_providers() if not is_local(name)]
    if with_key:
        print_note(
            f"no model is set, so {DEFAULT_MODEL} answers, which is no language model; {', '.join(with_key)} "
            f"could: name one with --model, or run {command_line('models', '--default')} PROVIDER/MODEL"
        )


async def _asked_once() -> str:
    models = await _listed()
    if not models:
        return DEFAULT_MODEL
    print_message("No default model is set. These could answer when none is named:", err=True)
    for provider, names in models.items():
        more = f" … ({len(names)} in all)" if len(names) > _SHOWN else ""
        print_message(f"  {provider}: {', '.join(names[:_SHOWN])}{more}", err=True)
    print_message(f"  {DEFAULT_MODEL}: no language model, needs nothing", err=True)
    words = [DEFAULT_MODEL, *(name for names in models.values() for name in names)]
    message = f"Default model (Tab completes, Enter for {DEFAULT_MODEL}): "
    try:
        async with one_question():
            chosen = (await read_line(message, check=_fault, words=words)).strip() or DEFAULT_MODEL
    except EOFError:
        raise click.Abort from None
    path = set_user_default_model(chosen)
    print_note(f"{chosen} is the default model from now on ({path}; {command_line('models', '--default')})")
    return chosen


async def _listed() -> dict[str, Sequence[str]]:
    """``provider/model`` of each provider that lists some now."""
    from ...providers.listing import ModelLister
    from ...providers.usable import usable_providers

    print_note("no default model is set: asking providers for their models …")
    listed = await ModelLister().listed(usable_providers())
    return {
        each.provider: [f"{each.provider}/{facts.model}" for facts in each.models]
        for each in listed
        if each.models
    }


def _fault(text: str) -> str:
    """What is wrong with ``text`` as the name of a model; empty for nothing."""
    if not text.strip():
        return ""
    if best_of(text) is not None:
        return ""
    try:
        split_model(text.strip())
    except UsageError as error:
        return error.message
    return ""
