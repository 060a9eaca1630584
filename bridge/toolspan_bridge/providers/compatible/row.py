"""What there is to say of a provider that needs no code of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...messages.chat_traits import USUAL, ChatTraits

WireFormat = Literal["openai", "openai-responses"]
"""Chat Completions, and Responses."""


@dataclass(frozen=True, slots=True)
class Row:
    """A base URL, the variables that hold the key and another base URL, and where keys are to be had.

    ``limit`` is what the provider calls the limit of output tokens, ``format`` which of OpenAI's wire formats
    it speaks. ``other`` is the format of servers at another address than the row's own, and of models that
    refuse ``format``. ``account`` names the provider that the row is of, where it has several rows: state of
    one is taken by the others. ``batches`` is the module of ``toolspan_bridge.batch.services`` for its
    batches of requests. A server on the user's own machine needs no key: ``local`` says how it is started.
    ``host`` is a variable that holds host and port alone, as Ollama reads it, for where ``base`` is not set.
    ``per_resource``: every user has an address of their own, whose form ``url`` shows. ``chat`` is what its
    Chat Completions takes, and ``chat_of`` that of models by a pattern of their names, the first that fits.
    ``counts`` says that its Responses has an endpoint which counts the tokens of a request, ``caps_price``
    that its Chat Completions takes ``provider.max_price``. ``most_answer`` are the tokens of an answer where
    the request does not say: some local servers write without an end. Where the context has room for fewer,
    the server's refusal says so, and the request is sent again with as many. ``context_at`` is where the
    server tells its settings, with its real context. ``standard_tier`` is the ``service_tier`` of the
    standard price, where an account or project may have another one by default.
    """

    url: str
    key: str
    base: str
    keys_at: str = ""
    local: str = ""
    limit: str = "max_tokens"
    format: WireFormat = "openai"
    headers: tuple[tuple[str, str], ...] = ()
    host: str = ""
    chat: ChatTraits = USUAL
    chat_of: tuple[tuple[str, ChatTraits], ...] = ()
    other: WireFormat | None = None
    account: str = ""
    per_resource: bool = False
    batches: str = ""
    counts: bool = False
    most_answer: int | None = None
    context_at: str = ""
    caps_price: bool = False
    standard_tier: str = ""
