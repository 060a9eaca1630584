"""Any provider that is a row: one of OpenAI's formats at some address, with a bearer key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from ...errors import UsageError
from ...formats.names import NameTable
from ...formats.shared.openai_models import chat_only
from ...messages import Request
from ..http.settings import HttpSettings
from ..prices import price_of
from ..settings.endpoint import Endpoint
from ..settings.environment import (
    base_url,
    key_from,
    optional_key,
    variable,
)
from ..settings.ollama_host import host_url
from ..wire.endpoint_provider import EndpointProvider
from ..wire.model_facts import ModelFacts, served_context
from ..wire.provider import WireProvider
from ..wire.token_counts import CountsTokens
from ..wire.two_wires import TwoWires
from ..wire.unbound_thoughts import UnboundThoughts
from .row import Row
from .rows import row_of

_PATHS = {"openai": "chat/completions", "openai-responses": "responses"}
_COUNTED = (
    "input",
    "instructions",
    "model",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "tool_choice",
    "tools",
)
"""The members of a request by Responses that OpenAI's count of tokens takes (openai 3.54.0,
``InputTokenCountParams``)."""


def connect_row(name: str, settings: HttpSettings) -> WireProvider | TwoWires:
    """The provider of the row ``name``. Raises ``AuthError`` when its key is missing, ``UsageError``
    when an address is that only its user knows."""
    row = row_of(name)
    endpoint = _endpoint(name, row)
    kind = _CountedResponses if row.counts else _PriceCapped if row.caps_price else _Compatible
    own = kind(endpoint, row.format, settings)
    if row.other is None:
        return own
    other = _Compatible(endpoint, row.other, settings)
    if _is_at(endpoint.base, row.url):
        return TwoWires(own, other, chat_only if row.other == "openai" else lambda model: False)
    return TwoWires(other, own)


def connect_to(endpoint: Endpoint, wire_format: str, settings: HttpSettings) -> WireProvider:
    """The provider of one of OpenAI's formats at ``endpoint``."""
    return _Compatible(endpoint, wire_format, settings)


def _endpoint(name: str, row: Row) -> Endpoint:
    key = optional_key(row.key) if row.local else key_from(name, row.key, where=row.keys_at)
    extra = {header: value for header, held_in in row.headers if (value := optional_key(held_in))}
    started = f"is it running? Start it with `{row.local}`, or set {row.base}"
    remote = f"check the network, HTTPS_PROXY and {row.base}"
    return Endpoint(
        name,
        _base(name, row),
        key,
        variables=row.key,
        hint=started if row.local else remote,
        headers=extra,
        limit=row.limit,
        chat=row.chat,
        chat_of=row.chat_of,
        account=row.account,
        batches=row.batches,
        most_answer=row.most_answer,
        context_at=row.context_at,
        standard_tier=row.standard_tier,
    )


def _is_at(base: str, url: str) -> bool:
    """Whether ``base`` is the row's own address, or a region's of it, such as ``eu.api.openai.com``."""
    host, own = urlsplit(base).hostname or "", urlsplit(url).hostname or ""
    return host == own or host.endswith(f".{own}")


def _base(name: str, row: Row) -> str:
    if row.per_resource and not variable(row.base)[1]:
        raise UsageError(
            f"{name} needs the address of your resource: set {row.base}, in the form {row.url}",
            variables=(row.base,),
        )
    if row.host and not variable(row.base)[1] and (host := variable(row.host)[1]):
        return f"{host_url(host)}/v1"
    return base_url(row.url, row.base)


class _Compatible(UnboundThoughts, EndpointProvider):
    def __init__(self, endpoint: Endpoint, wire_format: str, settings: HttpSettings) -> None:
        headers = endpoint.request_headers("authorization", "Bearer ")
        super().__init__(endpoint, wire_format, settings, headers)
        self._path = _PATHS[wire_format]
        self._limit = endpoint.limit
        self._most_answer = endpoint.most_answer
        self._context_at = endpoint.context_at

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/{self._path}"

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        body = await super()._body(request, names)
        for known in ("max_completion_tokens", "max_tokens"):
            if known != self._limit and known in body:
                body[self._limit] = body.pop(known)
        if self._most_answer is not None:
            body.setdefault(self._limit, self._most_answer)
        return body

    @override
    async def models(self) -> tuple[ModelFacts, ...]:
        """As listed; the context is that which the server has been started with, where it says so."""
        listed = await super().models()
        if not self._context_at:
            return listed
        url = self._base.removesuffix("/v1") + self._context_at
        answer = await self._client.get(url, self._list_headers, self._format.parse_error)
        context = served_context(answer.content) if answer.status == 200 else None
        return tuple(replace(facts, context=context or facts.context) for facts in listed)


class _PriceCapped(_Compatible):
    """One that has models from several others: under a limit of cost, none at more than the known price."""

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        body = await super()._body(request, names)
        price = price_of(self.name, request.model)
        if request.caps_price and price.input is not None and price.output is not None:
            body["provider"] = {"max_price": {"prompt": price.input, "completion": price.output}}
        return body


class _CountedResponses(CountsTokens, _Compatible):
    """Responses with the endpoint that counts tokens."""

    counted = "input_tokens"

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{self._url(model)}/input_tokens", {key: body[key] for key in _COUNTED if key in body}
