"""Azure OpenAI: Chat Completions of a deployment of yours. The model is the deployment's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from typing_extensions import override

from ...errors import UsageError
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import (
    base_url,
    key_from,
    optional_key,
    variable,
)
from ..wire.endpoint_provider import EndpointProvider
from ..wire.provider import WireProvider

_ENDPOINT = "AZURE_OPENAI_ENDPOINT"
_KEY = "AZURE_OPENAI_API_KEY"
_TOKEN = "AZURE_OPENAI_AD_TOKEN"
_VERSION = ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
_DEFAULT_VERSION = "2024-10-21"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """The Azure resource at ``AZURE_OPENAI_ENDPOINT``, with its key or a Microsoft Entra token.

    Raises ``UsageError`` without an endpoint, ``AuthError`` without key and token.
    """
    example = "https://RESOURCE.openai.azure.com"
    if not variable(_ENDPOINT)[1]:
        raise UsageError(f"azure needs your resource's address: set {_ENDPOINT}, for example to {example}")
    token = optional_key(_TOKEN)
    key = token or key_from("azure", _KEY, where="the resource's Keys and Endpoint page")
    name, version = variable(*_VERSION)
    if not re.fullmatch(r"[a-z0-9.-]{0,40}", version):
        raise UsageError(f"{name} is no API version: write it as {_DEFAULT_VERSION}")
    endpoint = Endpoint(
        "azure",
        base_url(example, _ENDPOINT),
        key,
        variables=_TOKEN if token else _KEY,
        hint=f"check the network, HTTPS_PROXY and {_ENDPOINT}",
    )
    bearer = endpoint.request_headers("authorization", "Bearer ")
    headers = bearer if token else endpoint.request_headers("api-key")
    return _Azure(endpoint, headers, version or _DEFAULT_VERSION, settings)


class _Azure(EndpointProvider):
    no_list = "Azure lists deployments only in its portal: write azure/DEPLOYMENT"

    def __init__(
        self, endpoint: Endpoint, headers: Mapping[str, str], version: str, settings: HttpSettings
    ) -> None:
        super().__init__(endpoint, "openai", settings, headers)
        self._version = version

    @override
    def _url(self, model: str) -> str:
        deployment = quote(model, safe="")
        return f"{self._base}/openai/deployments/{deployment}/chat/completions?api-version={self._version}"

    @override
    def _model_hint(self, model: str) -> str:
        return ": the name after azure/ is that of your deployment, not of the model behind it"
