"""A provider's address, key and headers, from a row, the environment, or the config."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from ...messages.chat_traits import USUAL, ChatTraits

_SHORTEST_SECRET = 8


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``base`` is the address that a format's paths are added to; ``headers`` are sent with every request.

    ``variables`` is what to check when the key is refused, ``hint`` when nothing answers. ``limit`` is the
    name of Chat Completions' limit of output tokens there, ``chat`` what else it takes, ``chat_of`` the same
    for models by a pattern of their names. ``account`` is the provider's name where it has several (empty:
    ``name``), ``batches`` the module of ``toolspan_bridge.batch.services`` for its batches of requests
    (empty: it has none). ``most_answer`` are the tokens that an answer may have where a request does not say,
    and ``context_at`` is the path, from the server's root, of its settings, with its real context.
    ``standard_tier`` is the ``service_tier`` of the standard price, where the account may have another one by
    default.
    """

    name: str
    base: str
    key: str
    variables: str
    hint: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    limit: str = "max_tokens"
    chat: ChatTraits = USUAL
    chat_of: tuple[tuple[str, ChatTraits], ...] = ()
    account: str = ""
    batches: str = ""
    most_answer: int | None = None
    context_at: str = ""
    standard_tier: str = ""

    def chat_for(self, model: str) -> ChatTraits:
        """What Chat Completions takes there for ``model``."""
        named = (traits for pattern, traits in self.chat_of if re.fullmatch(pattern, model))
        return next(named, self.chat)

    def request_headers(self, named: str, prefix: str = "", **more: str) -> dict[str, str]:
        """The headers of a request: JSON, the key with ``prefix`` in the header ``named``, and the endpoint's
        own, which take precedence.
        """
        headers = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in more.items()}}
        if self.key:
            headers[named] = f"{prefix}{self.key}"
        own = {name.lower(): value for name, value in self.headers.items()}
        return {**headers, **own}

    @property
    def identity(self) -> str:
        """The hash of the address and the key: requests of one are counted together by the provider."""
        return sha256("\n".join((self.base, *self.secrets)).encode()).hexdigest()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that messages must not show: the key, and the values of headers that may hold one."""
        values = (self.key, *(value for value in self.headers.values() if len(value) >= _SHORTEST_SECRET))
        return tuple(sorted(filter(None, values), key=len, reverse=True))
