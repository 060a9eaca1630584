"""Claude on Amazon Bedrock by its Mantle endpoint: Anthropic's Messages API, with a Bedrock API key."""

from __future__ import annotations

import re

from typing_extensions import override

from ...errors import UsageError
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url, key_from, variable
from ..wire.hosted_claude import HostedClaude
from ..wire.provider import WireProvider
from .anthropic import VERSION

_TOKEN = "AWS_BEARER_TOKEN_BEDROCK"
_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_BASE = "ANTHROPIC_BEDROCK_MANTLE_BASE_URL"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Mantle in the region of the environment.

    Raises ``AuthError`` without a key, ``UsageError`` without a region.
    """
    key = key_from("bedrock-mantle", _TOKEN)
    region = variable(*_REGION)[1]
    if not re.fullmatch(r"[a-z0-9-]+", region):
        raise UsageError(f"bedrock-mantle needs a region: set {_REGION[0]}, for example to us-east-1")
    endpoint = Endpoint(
        "bedrock-mantle",
        base_url(f"https://bedrock-mantle.{region}.api.aws/anthropic", _BASE),
        key,
        variables=f"{_TOKEN}, the region {region} and the access to the model there",
        hint=f"check the network, HTTPS_PROXY, the region {region} and {_BASE}",
    )
    return _Mantle(endpoint, settings)


class _Mantle(HostedClaude):
    no_list = "Mantle's list of models is not known: write bedrock-mantle/MODEL"

    def __init__(self, endpoint: Endpoint, settings: HttpSettings) -> None:
        headers = endpoint.request_headers("authorization", "Bearer ", anthropic_version=VERSION)
        super().__init__(endpoint, "anthropic", settings, headers)

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/v1/messages"
