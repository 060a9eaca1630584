"""Amazon Bedrock, with an API key as bearer token or signed with the AWS chain's credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from typing_extensions import override

from ...errors import AuthError, UsageError
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url, optional_key, variable
from ..wire.model_facts import Page, bedrock_page
from ..wire.provider import WireProvider
from ..wire.token_counts import CountsTokens
from ..wire.unbound_thoughts import UnboundThoughts

_TOKEN = "AWS_BEARER_TOKEN_BEDROCK"
_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINT = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL")
_CONTROL = ("AWS_ENDPOINT_URL_BEDROCK", "AWS_ENDPOINT_URL")
_REGIONAL = re.compile(r"^(?:apac|au|ca|eu|global|jp|us|us-gov)\.")
_EXTRA = f"signing needs botocore: pip install 'toolspan[bedrock]', or set {_TOKEN} to a Bedrock API key"


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
    token = optional_key(_TOKEN)
    session = None if token else _session()
    region = variable(*_REGION)[1] or _profile_region(session)
    if not re.fullmatch(r"[a-z0-9-]+", region):
        raise UsageError(f"{operations.name} needs a region: set {_REGION[0]}, for example to us-east-1")
    return kind(operations, region, token, session, settings)


class BedrockProvider(WireProvider):
    """Bedrock in one region, by one of its operations."""

    def __init__(
        self, operations: Operations, region: str, token: str, session: Any, settings: HttpSettings
    ) -> None:
        held = _TOKEN if token else "the AWS credentials"
        endpoint = Endpoint(
            operations.name,
            base_url(f"https://bedrock-runtime.{region}.amazonaws.com", *_ENDPOINT),
            token,
            variables=f"{held}, the region {region} and the access to the model there",
            hint=f"check the network, HTTPS_PROXY and the region {region}",
        )
        super().__init__(endpoint, operations.name, settings)
        self._operations = operations
        self._region = region
        self._token = token
        self._session = session

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
        base = base_url(f"https://bedrock.{self._region}.amazonaws.com", *_CONTROL)
        return f"{base}/foundation-models"

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return await self._signed(url, body, "POST")

    @override
    async def _list_headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return await self._signed(url, body, "GET")

    async def _signed(self, url: str, body: bytes, method: str) -> Mapping[str, str]:
        if self._token:
            return {"content-type": "application/json", "authorization": f"Bearer {self._token}"}
        return await anyio.to_thread.run_sync(self._sign, url, body, method)

    def _sign(self, url: str, body: bytes, method: str) -> dict[str, str]:
        """The headers that sign ``body`` for exactly ``url``. Credentials may come from files, processes or
        the network, and are renewed when they have aged: hence for each attempt, and in a thread."""
        errors = import_module("botocore.exceptions")
        try:
            found = self._session.get_credentials()
            credentials = found and found.get_frozen_credentials()
        except errors.BotoCoreError as error:
            raise AuthError(f"bedrock: the AWS credentials cannot be had: {error}") from None
        if not credentials:
            raise AuthError(
                f"bedrock needs credentials: set {_TOKEN}, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                "or AWS_PROFILE to a profile of ~/.aws"
            )
        signed = import_module("botocore.awsrequest").AWSRequest(
            method, url, headers={"content-type": "application/json"}, data=body
        )
        import_module("botocore.auth").SigV4Auth(credentials, "bedrock", self._region).add_auth(signed)
        return dict(signed.headers.items())


class _Converse(CountsTokens, UnboundThoughts, BedrockProvider):
    """Bedrock's provider, with what Claude is asked once more for; models of other vendors never are."""

    counted = "inputTokens"

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Asked of the model itself: inference profiles of a region have no count of their own."""
        known = ("messages", "system", "toolConfig", "additionalModelRequestFields")
        converse = {key: body[key] for key in known if key in body}
        return self._operation(_REGIONAL.sub("", model), "count-tokens"), {"input": {"converse": converse}}


def _session() -> Any:
    try:
        return import_module("botocore.session").get_session()
    except ImportError:
        raise AuthError(f"bedrock has no {_TOKEN}, and {_EXTRA}") from None


def _profile_region(session: Any) -> str:
    """The region of the profile in ``~/.aws/config``, ``""`` when there is none that can be read."""
    if session is None:
        try:
            session = import_module("botocore.session").get_session()
        except ImportError:
            return ""
    try:
        return session.get_config_variable("region") or ""
    except import_module("botocore.exceptions").BotoCoreError as error:
        raise UsageError(f"bedrock: the AWS configuration cannot be read: {error}") from None
