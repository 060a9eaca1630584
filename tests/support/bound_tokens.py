"""Tokens that are bound to a key (RFC 9449), given and taken by the servers of ``authority.py``, which check
every proof."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import jwt

from tests.support.authority import Answer, Asked, Authority, Guarded


@dataclass
class Bound:
    """What was seen of proofs. With a ``nonce`` both servers want it in each of them."""

    authority: Authority
    guarded: Guarded
    nonce: str = ""
    keys: set[str] = field(default_factory=set[str])
    """The thumbprints of the keys that tokens were bound to."""
    ids: list[str] = field(default_factory=list[str])

    def install(self) -> None:
        """Have both servers want proofs."""
        self.authority.metadata["dpop_signing_alg_values_supported"] = ["ES256"]
        self.authority.routes["/token"] = self._token
        self.guarded.routes["/mcp"] = self._mcp
        where = f"{self.guarded.url}/.well-known/oauth-protected-resource/mcp"
        self.guarded.challenge = f'DPoP algs="ES256", resource_metadata="{where}"'

    def _token(self, asked: Asked) -> Answer:
        claims, key = self._checked(asked, f"{self.authority.url}/token")
        if claims.get("nonce", "") != self.nonce:
            return Answer(400, {"error": "use_dpop_nonce"}, {"DPoP-Nonce": self.nonce})
        answer = self.authority.token(asked)
        if answer.status == 200:
            self.keys.add(key)
            self.authority.live[answer.data["access_token"]]["key"] = key
        return Answer(answer.status, {**answer.data, "token_type": "DPoP"})

    def _mcp(self, asked: Asked) -> Answer:
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        known = self.authority.live.get(token)
        if known is None:
            return self.guarded.mcp(asked)
        assert scheme == "DPoP", "a bound token is no bearer token"
        claims, key = self._checked(asked, f"{self.guarded.url}/mcp")
        assert key == known["key"]
        assert claims["ath"] == _digest(token.encode())
        if claims.get("nonce", "") != self.nonce:
            challenge = {"www-authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": self.nonce}
            return Answer(401, headers=challenge)
        bearer = {**asked.headers, "authorization": f"Bearer {token}"}
        return self.guarded.mcp(Asked(asked.method, asked.path, asked.query, asked.form, bearer, asked.body))

    def _checked(self, asked: Asked, url: str) -> tuple[dict[str, Any], str]:
        """The claims of the request's proof, and its key's thumbprint (RFC 7638)."""
        proof = asked.headers["dpop"]
        header = jwt.get_unverified_header(proof)
        public = header["jwk"]
        assert header["typ"] == "dpop+jwt"
        assert "d" not in public, "the private key stays at home"
        claims: dict[str, Any] = jwt.decode(proof, jwt.PyJWK(public).key, algorithms=["ES256"])
        assert (claims["htm"], claims["htu"]) == (asked.method, url)
        assert claims["jti"] not in self.ids, "each request has a proof of its own"
        self.ids.append(claims["jti"])
        needed = {name: public[name] for name in ("crv", "kty", "x", "y")}
        return claims, _digest(json.dumps(needed, separators=(",", ":")).encode())


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
