"""The OAuth client that a scenario expects, as it would stand in a config."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt

from toolspan_server.schema.oauth_client import OAuthClientConfig

_DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The client id metadata document that the suite knows."""

_TOKEN = "token.jwt"


def credentials(scenario: str, context: Mapping[str, Any], folder: Path) -> OAuthClientConfig:
    """What the suite gives the client beforehand, under the names that a config has. Tokens of others are in
    a file in ``folder``."""
    if "client_id" not in context:
        return OAuthClientConfig(client_metadata_url=_DOCUMENT)
    given = {
        "client_id": context["client_id"],
        "client_secret": context.get("client_secret"),
        "private_key": context.get("private_key_pem"),
        "issuer": context.get("issuer"),
    }
    if scenario.startswith("auth/client-credentials"):
        given["grant"] = "client_credentials"
    if "valid_jwt" in context:
        (folder / _TOKEN).write_text(context["valid_jwt"])
        claims = jwt.decode(context["valid_jwt"], options={"verify_signature": False})
        given |= {"grant": "jwt_bearer", "assertion_file": _TOKEN, "issuer": claims["aud"]}
    if "idp_issuer" in context:
        (folder / _TOKEN).write_text(context["idp_id_token"])
        provider = {"issuer": context["idp_issuer"], "client_id": context["idp_client_id"]}
        given |= {"grant": "jwt_bearer", "identity_provider": {**provider, "id_token_file": _TOKEN}}
    return OAuthClientConfig(**given)
