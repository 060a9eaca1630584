"""Ollama's own API: a local server by default, ollama.com with a key."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import anyio
from typing_extensions import override

from ...errors import ContextOverflowError, ProviderError
from ...formats.names import NameTable
from ...formats.ollama.thinking import Think, fitting
from ...messages import Request, User
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import key_from, optional_key, variable
from ..settings.ollama_host import OLLAMA_CLOUD, host_url
from ..wire.endpoint_provider import EndpointProvider
from ..wire.model_facts import (
    ModelFacts,
    Page,
    ollama_page,
    ollama_shown,
)
from ..wire.provider import WireProvider
from ..wire.tokens import request_tokens

_LEAST_CONTEXT = 8192
_ANSWER_TOKENS = 2048
_MOST_ANSWER = 16_384
"""The tokens of an answer where the request does not say: some models write without an end."""
_MARGIN = 1.25
_SHOWN_MODELS = 200
_SHOWN_AT_ONCE = 4


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Ollama at ``OLLAMA_HOST``. Raises ``AuthError`` for ollama.com without ``OLLAMA_API_KEY``."""
    base = host_url(variable("OLLAMA_HOST")[1])
    cloud = urlsplit(base).hostname == OLLAMA_CLOUD
    key = key_from("ollama.com", "OLLAMA_API_KEY") if cloud else optional_key("OLLAMA_API_KEY")
    hint = "is `ollama serve` running? Another address goes into OLLAMA_HOST"
    return _Ollama(Endpoint("ollama", base, key, "OLLAMA_API_KEY and OLLAMA_HOST", hint), settings)


def connect_to(endpoint: Endpoint, settings: HttpSettings) -> WireProvider:
    """The provider of Ollama's API at ``endpoint``."""
    return _Ollama(endpoint, settings)


class _Ollama(EndpointProvider):
    asks_first = True

    def __init__(self, endpoint: Endpoint, settings: HttpSettings) -> None:
        super().__init__(endpoint, "ollama", settings, endpoint.request_headers("authorization", "Bearer "))
        self._known: dict[str, ModelFacts] = {}
        self._is_local = urlsplit(endpoint.base).hostname != OLLAMA_CLOUD

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/api/chat"

    @override
    async def _ready(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """The request for what the model is: without images where it sees none, and such that it fits.

        Raises ``ProviderError`` for tools to a model that knows of none, and for what does not fit.
        """
        facts = await self._facts(request.model)
        if facts.tools is False and request.tools and not self._prompted and request.tool_choice != "none":
            raise ProviderError(
                f"{self.name}: {request.model!r} cannot call tools by itself: name another, or "
                f"describe them in the prompt with --model prompt:{self.name}/{request.model}",
                kind="no_tools",
                fault="no_tools",
            )
        known = replace(request, vision=request.vision and facts.vision is not False)
        known, without = _unasked(known, facts)
        fitted, trimmed = self._fitted(known, facts)
        _, notes = await super()._ready(fitted)
        return fitted, without + trimmed + notes

    def _fitted(self, request: Request, facts: ModelFacts) -> tuple[Request, tuple[str, ...]]:
        """What of ``request`` the model's context holds, by its oldest exchanges: all, unless it may be
        trimmed. The server itself would drop what is too much without a word, tools among it."""
        if facts.context is None:
            return request, ()
        later = [at for at, message in enumerate(request.messages) if at and isinstance(message, User)]
        needed = 0
        for start in (0, *later) if request.trim else (0,):
            kept = replace(request, messages=request.messages[start:])
            needed = self._tokens(kept)
            if needed <= facts.context:
                return kept, _trimmed(start, facts)
        trim = ", or drop the oldest messages with --trim" if later and not request.trim else ""
        raise ContextOverflowError(
            f"{self.name}: the request needs about {needed:,} tokens, with {len(request.tools)} tools, and "
            f"the context of {request.model!r} holds {facts.context:,}: ask with less, offer fewer tools, "
            f"name a model with a longer context{trim}",
            kind="context",
            counted_tokens=needed,
            maximum_tokens=facts.context,
        )

    def _tokens(self, request: Request) -> int:
        return request_tokens(self._format.render_request(request, NameTable.of(request.tools)))

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The request with a context that holds it: Ollama's own is small, and what does not fit is dropped
        without a word. ``truncate`` and ``shift`` turn that dropping into an error."""
        body = await super()._body(request, names)
        written = request_tokens(body)
        needed = written * _MARGIN + (request.max_tokens or _ANSWER_TOKENS)
        facts = self._known.get(request.model, ModelFacts(request.model))
        context = context_for(needed, facts.context or 0)
        room = max(_ANSWER_TOKENS, context - written)
        limit = {"num_predict": min(_MOST_ANSWER, room)} if self._is_local else {}
        options = {**limit, **body.get("options", {}), "num_ctx": context}
        if request.reasoning is not None and facts.efforts:
            body = _with_think(body, fitting(request.reasoning, facts.efforts))
        return {**body, "options": options, "truncate": False, "shift": False}

    async def _facts(self, model: str) -> ModelFacts:
        """What the server reports of ``model``; nothing where it does not: the question itself then meets the
        same error, and reports it."""
        if model not in self._known:
            answer = await self._post(f"{self._base}/api/show", {"model": model})
            if answer.status != 200:
                return ModelFacts(model)
            self._known[model] = ollama_shown(model, answer.content)
        return self._known[model]

    @override
    async def models(self) -> tuple[ModelFacts, ...]:
        """The models that are there, each with what ``/api/show`` reports; of many, the first 200 with it."""
        listed = await super().models()
        limit = anyio.CapacityLimiter(_SHOWN_AT_ONCE)

        async def show(model: str) -> None:
            async with limit:
                await self._facts(model)

        async with anyio.create_task_group() as tasks:
            for facts in listed[:_SHOWN_MODELS]:
                tasks.start_soon(show, facts.model)
        return tuple(_merged(facts, self._known.get(facts.model)) for facts in listed)

    @override
    async def version_of(self, model: str) -> str:
        """The digest that ``/api/tags`` has of ``model``; without a tag it is ``latest``."""
        listed = await super().models()
        names = (model, f"{model}:latest")
        return next((facts.digest for facts in listed if facts.model in names), "")

    @override
    def _read_page(self, content: bytes) -> Page:
        return ollama_page(content)

    @override
    def _list_url(self, after: str) -> str:
        return f"{self._base}/api/tags"

    @override
    def _model_hint(self, model: str) -> str:
        return f": fetch it with `ollama pull {model}`"


def context_for(needed: float, longest: int) -> int:
    """Tokens of context for a request that needs about ``needed``: a power of two, so that a growing
    conversation seldom makes Ollama load the model again; at most the model's ``longest`` (0: not known)."""
    size = 1 << math.ceil(math.log2(max(needed, _LEAST_CONTEXT)))
    return min(size, longest) if longest else size


def _unasked(request: Request, facts: ModelFacts) -> tuple[Request, tuple[str, ...]]:
    """``request`` without an effort where the model does not think: the server would refuse it."""
    if request.reasoning is None or facts.thinking is not False:
        return request, ()
    note = f"The effort {request.reasoning} is left out: {facts.model} does not think."
    return replace(request, reasoning=None), () if request.reasoning == "none" else (note,)


def _with_think(body: dict[str, Any], think: Think | None) -> dict[str, Any]:
    rest = {key: value for key, value in body.items() if key != "think"}
    return rest if think is None else {**rest, "think": think}


def _merged(listed: ModelFacts, shown: ModelFacts | None) -> ModelFacts:
    return listed if shown is None or shown == ModelFacts(shown.model) else shown


def _trimmed(count: int, facts: ModelFacts) -> tuple[str, ...]:
    if not count:
        return ()
    holds = f"the context of {facts.model} holds {facts.context:,} tokens"
    return (f"The first {count} messages are left out: {holds}.",)
