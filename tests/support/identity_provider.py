"""A company's identity provider on loopback: it signs people in, and decides which servers they may use."""

from __future__ import annotations

import secrets
import time
from typing import Any

from typing_extensions import override

from tests.support.authority import Answer, Asked, Authority

_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
CLIENT = "company-toolspan"


class IdentityProvider(Authority):
    """Gives ID-JAGs for the MCP authorization servers in ``serves``, which take them."""

    def __init__(self, *serves: Authority) -> None:
        super().__init__()
        self.serves = serves
        self.id_seconds = 600
        self.refuses: dict[str, Any] | None = None
        self.metadata = {"registration_endpoint": None, "code_challenge_methods_supported": None}
        self.exchanges: list[Asked] = []

    def id_token(self) -> str:
        """A token that says who ann is, to the client alone."""
        return self.keys.token(aud=CLIENT, exp=int(time.time()) + self.id_seconds, jti=secrets.token_hex(4))

    @override
    def token(self, asked: Asked) -> Answer:
        if asked.form["grant_type"] == _EXCHANGE:
            return self.exchanged(asked)
        answer = super().token(asked)
        return Answer(answer.status, {**answer.data, "id_token": self.id_token()})

    def exchanged(self, asked: Asked) -> Answer:
        self.exchanges.append(asked)
        form = asked.form
        assert (form["requested_token_type"], form["subject_token_type"]) == (_ID_JAG, _ID_TOKEN)
        authority = next(each for each in self.serves if each.url == form["audience"])
        if self.refuses is not None:
            return Answer(400, self.refuses)
        granted = self.keys.token(
            header={"typ": "oauth-id-jag+jwt"}, aud=form["audience"], resource=form["resource"], sub="ann"
        )
        authority.assertions.add(granted)
        return Answer(data={"access_token": granted, "issued_token_type": _ID_JAG, "token_type": "N_A"})
