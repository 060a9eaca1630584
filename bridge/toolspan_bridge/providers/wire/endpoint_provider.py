"""A provider at an ``Endpoint``: a fixed address, and the same headers for every request."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from .provider import WireProvider


class EndpointProvider(WireProvider):
    """The common part of providers whose key is a header. ``headers`` are sent with every request."""

    def __init__(
        self, endpoint: Endpoint, wire_format: str, settings: HttpSettings, headers: Mapping[str, str]
    ) -> None:
        super().__init__(
            endpoint.name,
            wire_format,
            endpoint.base,
            settings,
            variables=endpoint.variables,
            hint=endpoint.hint,
            secrets=endpoint.secrets,
            account=endpoint.account,
        )
        self._sent_headers = headers

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return self._sent_headers
