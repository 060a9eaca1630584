"""Anthropic's own API.

``anthropic-version`` is 2023-06-01. To what is sent here, 2026-10-21 would do nothing but refuse the
``temperature`` that a config may ask for, and servers of others may know the older one only.
The API keeps what a version offers (platform.claude.com/docs/en/api/versioning, read in November 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from typing_extensions import override

from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url, key_from
from ..wire.endpoint_provider import EndpointProvider
from ..wire.model_facts import Page, anthropic_page
from ..wire.provider import WireProvider
from ..wire.token_counts import CountsTokens
from ..wire.unbound_thoughts import UnboundThoughts, with_betas

VERSION = "2023-06-01"

_KEY = "ANTHROPIC_API_KEY"
_BASE = "ANTHROPIC_BASE_URL"
_COUNTED = (
    "model",
    "cache_control",
    "messages",
    "output_config",
    "system",
    "thinking",
    "tool_choice",
    "tools",
)


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Anthropic, with the key in ``ANTHROPIC_API_KEY``. Raises ``AuthError`` when it is not set."""
    key = key_from("anthropic", _KEY, where="https://platform.claude.com/settings/keys")
    base = base_url("https://api.anthropic.com", _BASE)
    hint = f"check the network, HTTPS_PROXY and {_BASE}"
    endpoint = Endpoint(
        "anthropic", base, key, _KEY, hint, batches="anthropic", standard_tier="standard_only"
    )
    return _Anthropic(endpoint, settings)


def connect_to(endpoint: Endpoint, settings: HttpSettings) -> WireProvider:
    """The provider of Messages at ``endpoint``."""
    return _Anthropic(endpoint, settings)


class _Anthropic(CountsTokens, UnboundThoughts, EndpointProvider):
    counted = "input_tokens"

    def __init__(self, endpoint: Endpoint, settings: HttpSettings) -> None:
        headers = endpoint.request_headers("x-api-key", anthropic_version=VERSION)
        super().__init__(endpoint, "anthropic", settings, headers)

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return with_betas(await super()._headers(url, body), self._betas)

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/v1/messages"

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        counted = {key: body[key] for key in _COUNTED if key in body}
        return f"{self._base}/v1/messages/count_tokens", counted

    @override
    def _read_page(self, content: bytes) -> Page:
        return anthropic_page(content)

    @override
    def _list_url(self, after: str) -> str:
        mark = f"&after_id={quote(after, safe='')}" if after else ""
        return f"{self._base}/v1/models?limit=1000{mark}"
