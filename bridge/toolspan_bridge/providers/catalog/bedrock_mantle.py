"""Claude on Amazon Bedrock by its Mantle endpoint: Anthropic's Messages API.

With a Bedrock API key, or signed with the AWS chain's credentials for the service ``bedrock-mantle``: so do
anthropic 2.12.0 (``lib/bedrock/_mantle.py``) and openai 3.54.0 (``providers/bedrock.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from ..http.settings import HttpSettings
from ..settings.aws import AwsAccount, aws_account
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url
from ..wire.hosted_claude import HostedClaude
from ..wire.provider import WireProvider
from .anthropic import VERSION

_SERVICE = "bedrock-mantle"
_BASE = "ANTHROPIC_BEDROCK_MANTLE_BASE_URL"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Mantle in the region of the environment or profile.

    Raises ``AuthError`` without a key and without botocore, ``UsageError`` without a region.
    """
    return _Mantle(aws_account("bedrock-mantle", _SERVICE), settings)


class _Mantle(HostedClaude):
    no_list = "Mantle's list of models is not known: write bedrock-mantle/MODEL"

    def __init__(self, account: AwsAccount, settings: HttpSettings) -> None:
        endpoint = Endpoint(
            "bedrock-mantle",
            base_url(f"https://bedrock-mantle.{account.region}.api.aws/anthropic", _BASE),
            account.token,
            variables=account.variables,
            hint=f"check the network, HTTPS_PROXY, the region {account.region} and {_BASE}",
        )
        headers = {"content-type": "application/json", "anthropic-version": VERSION}
        super().__init__(endpoint, "anthropic", settings, headers)
        self._aws = account

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        """The features that are stated are signed too."""
        return await self._aws.signed(url, body, await super()._headers(url, body))

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/v1/messages"

    @override
    def _count_url(self) -> str:
        return f"{self._base}/v1/messages/count_tokens"
