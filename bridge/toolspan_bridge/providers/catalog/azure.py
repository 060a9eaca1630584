"""Azure OpenAI: a deployment of yours, by the v1 API. The model is the deployment's name.

The v1 API has no API versions. Deployments named after a model that thinks are asked by Responses, others by
Chat Completions, and each by the other where it is refused. With ``AZURE_OPENAI_API_VERSION`` set it
is Chat Completions at the deployment's own path, as before the v1 API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from typing_extensions import override

from ...errors import BridgeError, UnknownModelError, UsageError
from ...formats.shared.openai_models import reasons
from ...messages.chat_traits import OPENAI
from ..http.client import HttpResponse
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
from ..wire.two_wires import TwoWires
from ..wire.unbound_thoughts import UnboundThoughts

_ENDPOINT = "AZURE_OPENAI_ENDPOINT"
_KEY = "AZURE_OPENAI_API_KEY"
_TOKEN = "AZURE_OPENAI_AD_TOKEN"
_VERSION = ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
_V1 = ("", "v1")
_EXAMPLE_VERSION = "2024-10-21"
_NO_SUCH_PATH = "404"


def connect(model: str, settings: HttpSettings) -> WireProvider | TwoWires:
    """The Azure resource at ``AZURE_OPENAI_ENDPOINT``, with its key or a Microsoft Entra token.

    Raises ``UsageError`` without an endpoint, ``AuthError`` without key and token.
    """
    example = "https://RESOURCE.openai.azure.com"
    if not variable(_ENDPOINT)[1]:
        raise UsageError(
            f"azure needs your resource's address: set {_ENDPOINT}, for example to {example}",
            variables=(_ENDPOINT,),
        )
    token = optional_key(_TOKEN)
    key = token or key_from("azure", _KEY, where="the resource's Keys and Endpoint page")
    name, version = variable(*_VERSION)
    if not re.fullmatch(r"[a-z0-9.-]{0,40}", version):
        raise UsageError(f"{name} is no API version: write it as {_EXAMPLE_VERSION}, or unset it")
    endpoint = Endpoint(
        "azure",
        base_url(example, _ENDPOINT).removesuffix("/v1").removesuffix("/openai"),
        key,
        variables=_TOKEN if token else _KEY,
        hint=f"check the network, HTTPS_PROXY and {_ENDPOINT}",
        chat=OPENAI,
        standard_tier="default",
    )
    bearer = endpoint.request_headers("authorization", "Bearer ")
    headers = bearer if token else endpoint.request_headers("api-key")
    if version not in _V1:
        return _Deployment(endpoint, headers, version, settings)
    chat = _V1Api(endpoint, "openai", headers, settings)
    responses = _V1Api(endpoint, "openai-responses", headers, settings)
    return TwoWires(chat, responses, lambda deployment: reasons(deployment) is True)


class _Azure(EndpointProvider):
    no_list = "Azure lists deployments only in its portal: write azure/DEPLOYMENT"

    @override
    def _model_hint(self, model: str) -> str:
        return ": the name after azure/ is that of your deployment, not of the model behind it"


class _V1Api(UnboundThoughts, _Azure):
    """One of the two formats of the v1 API."""

    def __init__(
        self, endpoint: Endpoint, wire_format: str, headers: Mapping[str, str], settings: HttpSettings
    ) -> None:
        super().__init__(endpoint, wire_format, settings, headers)
        self._path = {"openai": "chat/completions", "openai-responses": "responses"}[wire_format]

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/openai/v1/{self._path}"

    @override
    def _failure(self, answer: HttpResponse, model: str) -> BridgeError:
        """A resource in a region without one of the formats has no such path."""
        failure = super()._failure(answer, model)
        if isinstance(failure, UnknownModelError) and failure.kind == _NO_SUCH_PATH:
            failure.fault = "wrong_wire"
        return failure


class _Deployment(_Azure):
    """Chat Completions at a deployment's path, by an API version."""

    def __init__(
        self, endpoint: Endpoint, headers: Mapping[str, str], version: str, settings: HttpSettings
    ) -> None:
        super().__init__(endpoint, "openai", settings, headers)
        self._version = version

    @override
    def _url(self, model: str) -> str:
        deployment = quote(model, safe="")
        return f"{self._base}/openai/deployments/{deployment}/chat/completions?api-version={self._version}"
