"""Amazon Bedrock, with an API key as bearer token or signed with the AWS chain's credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from typing_extensions import override

from ..http.settings import HttpSettings
from ..settings.aws import AwsAccount, aws_account
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url
from ..wire.model_facts import Page, bedrock_page
from ..wire.provider import WireProvider
from ..wire.token_counts import CountsTokens
from ..wire.unbound_thoughts import UnboundThoughts

_SERVICE = "bedrock"
_ENDPOINT = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL")
_CONTROL = ("AWS_ENDPOINT_URL_BEDROCK", "AWS_ENDPOINT_URL")
_REGIONAL = re.compile(r"^(?:apac|au|ca|eu|global|jp|us|us-gov)\.")
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Operations:
    """One of Bedrock's ways to ask a model: the provider and format of that name, its operations' paths."""

    name: str
    whole: str
    streamed: str


CONVERSE = Operations("bedrock", "converse", "converse-stream")
"""For every vendor's models."""
INVOKE = Operations("bedrock-anthropic", "invoke", "invoke-with-response-stream")
"""For Claude, in Anthropic's own words."""


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Bedrock's Converse in the region of the environment or profile. Raises as ``connect_by``."""
    return connect_by(CONVERSE, settings, _Converse)


def connect_by(
    operations: Operations, settings: HttpSettings, kind: type[BedrockProvider]
) -> BedrockProvider:
    """Bedrock by ``operations``, a provider of this ``kind``.

    Raises ``AuthError`` without a key and without botocore, ``UsageError`` without a region.
    """
    return kind(operations, aws_account(operations.name, _SERVICE), settings)


class BedrockProvider(WireProvider):
    """Bedrock in one region, by one of its operations."""

    def __init__(self, operations: Operations, account: AwsAccount, settings: HttpSettings) -> None:
        endpoint = Endpoint(
            operations.name,
            base_url(f"https://bedrock-runtime.{account.region}.amazonaws.com", *_ENDPOINT),
            account.token,
            variables=account.variables,
            hint=f"check the network, HTTPS_PROXY and the region {account.region}",
        )
        super().__init__(endpoint, operations.name, settings)
        self._operations = operations
        self._aws = account

    @override
    def _url(self, model: str) -> str:
        return self._operation(model, self._operations.whole)

    @override
    def _stream_url(self, model: str) -> str:
        return self._operation(model, self._operations.streamed)

    def _operation(self, model: str, name: str) -> str:
        return f"{self._base}/model/{quote(model, safe='')}/{name}"

    @override
    def _read_page(self, content: bytes) -> Page:
        return bedrock_page(content)

    @override
    def _list_url(self, after: str) -> str:
        """At the control plane, which has a host of its own (``ListFoundationModels``)."""
        base = base_url(f"https://bedrock.{self._aws.region}.amazonaws.com", *_CONTROL)
        return f"{base}/foundation-models"

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return await self._aws.signed(url, body, _JSON)

    @override
    async def _list_headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return await self._aws.signed(url, body, _JSON, "GET")


class _Converse(CountsTokens, UnboundThoughts, BedrockProvider):
    """Bedrock's provider, with what Claude is asked once more for; models of other vendors never are."""

    counted = "inputTokens"

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Asked of the model itself: inference profiles of a region have no count of their own."""
        known = ("messages", "system", "toolConfig", "additionalModelRequestFields")
        converse = {key: body[key] for key in known if key in body}
        return self._operation(_REGIONAL.sub("", model), "count-tokens"), {"input": {"converse": converse}}
