"""An account of AWS: its region, and a Bedrock API key or the credentials of the AWS chain, which sign."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import anyio.to_thread

from ...errors import AuthError, UsageError
from .environment import optional_key, variable

TOKEN = "AWS_BEARER_TOKEN_BEDROCK"
_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_EXTRA = f"signing needs botocore: pip install 'toolspan[bedrock]', or set {TOKEN} to a Bedrock API key"


@dataclass(frozen=True, slots=True)
class AwsAccount:
    """That of the environment, for ``provider``. ``token`` is empty where the credentials of ``session``
    sign for ``service``, the name by which AWS knows the API."""

    provider: str
    service: str
    region: str
    token: str
    session: Any

    @property
    def variables(self) -> str:
        """What to check when a request is refused."""
        held = TOKEN if self.token else "the AWS credentials"
        return f"{held}, the region {self.region} and the access to the model there"

    async def signed(
        self, url: str, body: bytes, headers: Mapping[str, str], method: str = "POST"
    ) -> dict[str, str]:
        """``headers`` with the key, or with the signature (Version 4) of ``body`` for exactly ``url``.

        Raises ``AuthError`` when there are no credentials.
        """
        if self.token:
            return {**headers, "authorization": f"Bearer {self.token}"}
        return await anyio.to_thread.run_sync(self._sign, url, body, headers, method)

    def _sign(self, url: str, body: bytes, headers: Mapping[str, str], method: str) -> dict[str, str]:
        """Credentials may come from files, processes or the network, and are renewed when they have aged:
        hence for each attempt, and in a thread."""
        errors = import_module("botocore.exceptions")
        try:
            found = self.session.get_credentials()
            credentials = found and found.get_frozen_credentials()
        except errors.BotoCoreError as error:
            raise AuthError(f"{self.provider}: the AWS credentials cannot be had: {error}") from None
        if not credentials:
            raise AuthError(
                f"{self.provider} needs credentials: set {TOKEN}, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws"
            )
        request = import_module("botocore.awsrequest").AWSRequest(method, url, headers=headers, data=body)
        import_module("botocore.auth").SigV4Auth(credentials, self.service, self.region).add_auth(request)
        return dict(request.headers.items())


def aws_account(provider: str, service: str) -> AwsAccount:
    """The account of the environment or profile.

    Raises ``AuthError`` without a key and without botocore, ``UsageError`` without a region.
    """
    token = optional_key(TOKEN)
    session = None if token else _session(provider)
    region = variable(*_REGION)[1] or _profile_region(provider, session)
    if not re.fullmatch(r"[a-z0-9-]+", region):
        raise UsageError(
            f"{provider} needs a region: set {_REGION[0]}, for example to us-east-1", variables=_REGION
        )
    return AwsAccount(provider, service, region, token, session)


def _session(provider: str) -> Any:
    try:
        return import_module("botocore.session").get_session()
    except ImportError:
        raise AuthError(f"{provider} has no {TOKEN}, and {_EXTRA}") from None


def _profile_region(provider: str, session: Any) -> str:
    """The region of the profile in ``~/.aws/config``, ``""`` when there is none that can be read."""
    if session is None:
        try:
            session = import_module("botocore.session").get_session()
        except ImportError:
            return ""
    try:
        return session.get_config_variable("region") or ""
    except import_module("botocore.exceptions").BotoCoreError as error:
        raise UsageError(f"{provider}: the AWS configuration cannot be read: {error}") from None
