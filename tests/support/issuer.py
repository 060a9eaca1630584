"""An authorization server on loopback: its metadata, its keys, and tokens that it signs."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

AUDIENCE = "https://tools.example.com"


class Issuer:
    """``documents`` are served by path; ``asked`` counts the requests for each."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: Counter[str] = Counter()
        self.documents: dict[str, Any] = {
            "/.well-known/openid-configuration": {"issuer": url, "jwks_uri": f"{url}/keys"},
            "/keys": {"keys": []},
        }
        self._private: dict[str, ec.EllipticCurvePrivateKey] = {}
        self.add_key("one")

    def add_key(self, key_id: str) -> None:
        """Have another key, and tell it."""
        key = self._private[key_id] = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
        self.documents["/keys"]["keys"].append({**public, "kid": key_id, "use": "sig"})

    def add_rsa_key(self, key_id: str, bits: int, **more: Any) -> rsa.RSAPrivateKey:
        """Have an RSA key, and tell it with ``more``."""
        key = rsa.generate_private_key(65_537, bits)
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
        self.documents["/keys"]["keys"].append({**public, "kid": key_id, **more})
        return key

    def token(self, *, key_id: str = "one", header: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token of ann's, good for a minute, with other ``claims`` (``None``: without that one)."""
        whole = {"iss": self.url, "sub": "ann", "aud": AUDIENCE, "exp": int(time.time()) + 60, **claims}
        given = {name: value for name, value in whole.items() if value is not None}
        headers = {"kid": key_id, **(header or {})}
        return jwt.encode(given, self._private[key_id], algorithm="ES256", headers=headers)


@contextmanager
def issuer() -> Iterator[Issuer]:
    """An issuer that serves until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked[self.path] += 1
            document = made.documents.get(self.path)
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(404 if document is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Issuer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
