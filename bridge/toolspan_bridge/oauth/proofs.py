"""Proofs of possession (DPoP, RFC 9449): tokens that are good only with a key that stays on this machine."""

from __future__ import annotations

import secrets
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import urlsplit, urlunsplit

from ..errors import AuthError

ALGORITHM = "ES256"


def new_key() -> str:
    """A private key in PEM format."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def proof(key: str, method: str, url: str, *, token: str = "", nonce: str = "") -> str:
    """The value of ``DPoP`` for one request: section 4.2; with the access ``token`` that it carries and the
    server's last ``nonce``. Raises ``AuthError`` when ``key`` is none."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from jwt.algorithms import ECAlgorithm

    try:
        private = load_pem_private_key(key.encode(), None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, EllipticCurvePrivateKey):
        raise AuthError("the key that the sign-in's tokens are bound to is damaged (sign in again)")
    parts = urlsplit(url)
    claims: dict[str, str | int] = {
        "jti": secrets.token_urlsafe(16),
        "htm": method,
        "htu": urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")),
        "iat": int(time.time()),
    }
    if token:
        claims["ath"] = urlsafe_b64encode(sha256(token.encode()).digest()).rstrip(b"=").decode()
    if nonce:
        claims["nonce"] = nonce
    public = ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    return jwt.encode(claims, private, ALGORITHM, headers={"typ": "dpop+jwt", "jwk": public})
