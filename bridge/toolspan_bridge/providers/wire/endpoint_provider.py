"""A provider at an ``Endpoint``: a fixed address, and the same headers for every request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from typing_extensions import override

from toolspan_server.common.beside_loop import run_beside

from ...messages import Request
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from .provider import WireProvider
from .wire_request import weight

_Fit = Callable[[Request], tuple[Request, tuple[str, ...]]]


class EndpointProvider(WireProvider):
    """The common part of providers whose key is a header. ``headers`` are sent with every request."""

    def __init__(
        self, endpoint: Endpoint, wire_format: str, settings: HttpSettings, headers: Mapping[str, str]
    ) -> None:
        super().__init__(endpoint, wire_format, settings)
        self._sent_headers = headers

    @override
    async def _ready(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """``request`` with what the endpoint takes, fitted to its model where the format knows how."""
        endpoint = self._endpoint
        wire = replace(
            request.wire, chat=endpoint.chat_for(request.model), standard_tier=endpoint.standard_tier
        )
        if wire != request.wire:
            request = replace(request, wire=wire)
        fit: _Fit | None = getattr(self._format, "fitted", None)
        if fit is None:
            return await super()._ready(request)
        return await run_beside(weight(request), partial(fit, request))

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return self._sent_headers
