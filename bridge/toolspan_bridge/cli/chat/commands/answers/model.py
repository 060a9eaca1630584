"""``/model [PROVIDER/MODEL]``: who answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolspan_server.common.did_you_mean import nearest

from .....errors import AuthError, BridgeError, UnreachableError, UsageError
from .....providers import WithheldProvider, own_providers, provider_names, split_model
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command

_ANYWAY = "anyway"
_UNLISTED = ("offline", "scripted")
_MOST_PROPOSED = 20


async def _run(chat: Chat, argument: str) -> None:
    if not argument:
        question, provider = await chat.routed("")
        print_note(f"{provider.name}/{question.model} answers; /model PROVIDER/MODEL changes it")
        return
    model, _, rest = argument.partition(" ")
    if rest not in ("", _ANYWAY):
        raise UsageError("/model takes one PROVIDER/MODEL")
    if model == "default":
        chat.options = replace(chat.options, model=None)
        question, provider = await chat.routed("")
        print_note(f"{provider.name}/{question.model} answers from here on")
        return
    model = await chat.asker.best_models.named(model)
    await check_model(chat, model, listed=not rest)
    chat.options = replace(chat.options, model=model)
    print_note(f"{model} answers from here on")


async def check_model(chat: Chat, model: str, *, listed: bool = True) -> None:
    """Raise ``BridgeError`` that says why ``model`` cannot answer; the model that there is stays. That its
    provider has no list of models is only said."""
    kept = "; the model stays as it was"
    config = chat.asker.session.config
    try:
        await chat.asker.provider_of(model)
        name, bare = split_model(model, own_providers(config))
        name = name.rpartition(":")[2]
        if not listed or name in _UNLISTED:
            return
        known = await _listed(chat, name)
    except BridgeError as fault:
        fault.message += kept
        fault.args = (fault.message,)
        raise
    if known is not None and not {bare, f"{bare}:latest"} & set(known):
        raise UsageError(
            f"{name} lists no model {bare!r} ({nearest(bare, known)}){kept}; /model {model} {_ANYWAY} takes "
            "it nevertheless"
        )


async def _listed(chat: Chat, provider: str) -> list[str] | None:
    """The models that ``provider`` lists; ``None``, and a note why, where it gives no list. Raises
    ``AuthError`` and ``UnreachableError``."""
    [listing] = await chat.asker.lister.listed([provider])
    if isinstance(listing.error, AuthError | UnreachableError):
        raise listing.error
    if listing.error is not None:
        print_note(f"whether there is such a model is not known: {listing.error}")
        return None
    return [facts.model for facts in listing.models]


async def model_words(chat: Chat, before: tuple[str, ...], typed: str) -> Iterable[str]:
    """Models: those that this conversation had, and those of the provider that is typed; else providers."""
    if before:
        return ()
    session = chat.asker.session
    own = own_providers(session.config)
    names = provider_names(own)
    provider, slash, _ = typed.partition("/")
    used = list(chat.saved.conversation.models)
    if not slash:
        return [*used, *(f"{name}/" for name in names)]
    if provider not in names or isinstance(own.get(provider), WithheldProvider):
        return used
    [listing] = await chat.asker.lister.listed([provider])
    return [*used, *(f"{provider}/{facts.model}" for facts in listing.models)]


COMMAND = Command(
    "model",
    "[PROVIDER/MODEL]",
    "changes who answers, or says who does; default: as without a choice",
    _run,
    model_words,
)
