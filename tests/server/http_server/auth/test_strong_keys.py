"""Which keys of an issuer are used, and what a signed token may still get wrong."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from tests.server.http_server.auth.test_tokens import ask, served
from tests.support.issuer import AUDIENCE, Issuer, issuer
from toolspan_server.http_server.auth._key_strength import suits, weakness

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I9.3.22")]
EC = {"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}
RSA = {"kty": "RSA", "e": "AQAB", "n": "_" * 342}


@pytest.fixture(scope="module")
def login() -> Iterator[Issuer]:
    with issuer() as made:
        yield made


def signed(login: Issuer, key: Any, key_id: str, algorithm: str = "RS256", **claims: Any) -> str:
    whole = {"iss": login.url, "sub": "ann", "aud": AUDIENCE, "exp": int(time.time()) + 60, **claims}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyJWT says so of short keys, and signs
        return jwt.encode(whole, key, algorithm=algorithm, headers={"kid": key_id})


@pytest.mark.parametrize(("bits", "status"), [(1_024, 401), (2_048, 200)])
async def test_an_rsa_key_needs_2048_bits(tmp_path: Path, login: Issuer, bits: int, status: int) -> None:
    key = login.add_rsa_key(f"rsa-{bits}", bits)
    auth = {"oauth": {"issuer": login.url, "audience": [AUDIENCE]}}
    async with served(tmp_path, auth=auth) as application:
        assert (await ask(application, signed(login, key, f"rsa-{bits}"))).status == status


async def test_a_key_that_is_for_something_else_decides_nothing(tmp_path: Path, login: Issuer) -> None:
    uses: tuple[dict[str, Any], ...] = ({"use": "enc"}, {"key_ops": ["encrypt"]}, {"alg": "RS512"})
    auth = {"oauth": {"issuer": login.url, "audience": [AUDIENCE]}}
    keys = [login.add_rsa_key(f"other-{number}", 2_048, **more) for number, more in enumerate(uses)]
    async with served(tmp_path, auth=auth) as application:
        for number, key in enumerate(keys):
            assert (await ask(application, signed(login, key, f"other-{number}"))).status == 401, uses[number]


@pytest.mark.parametrize("end", [float("inf"), float("nan"), -1, "soon", None, [1], True])
async def test_a_signed_token_with_no_proper_end_is_401(tmp_path: Path, login: Issuer, end: Any) -> None:
    auth = {"oauth": {"issuer": login.url, "audience": [AUDIENCE]}}
    async with served(tmp_path, auth=auth) as application:
        assert (await ask(application, login.token(exp=end))).status == 401


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "oct", "k": "c2VjcmV0"},
        {**EC, "k": "c2VjcmV0"},
        {**EC, "d": "c2VjcmV0"},
        {**EC, "crv": "P-192"},
        {**EC, "crv": "secp256k1"},
        {"kty": "OKP", "crv": ["Ed25519"]},
        {"kty": "OKP", "crv": "X25519", "x": "a"},
        {**EC, "key_ops": "verify"},
        {**EC, "use": "enc"},
        {**RSA, "e": "AQ"},
        {**RSA, "e": "Ag"},
        {**RSA, "e": "_" * 342},
        {**RSA, "n": "_" * 170},
        {**RSA, "n": "_" * 100_000},
        {**RSA, "n": 5},
        {**RSA, "n": "ü" * 342},
        {},
    ],
)
def test_a_weak_or_secret_key_is_not_used(key: dict[str, Any]) -> None:
    assert weakness(key) is not None


def test_the_keys_that_are_used() -> None:
    assert weakness(RSA) is weakness(EC) is weakness({**EC, "key_ops": ["verify"], "use": "sig"}) is None
    assert weakness({"kty": "OKP", "crv": "Ed25519", "x": "a"}) is None


def test_a_key_signs_by_its_own_algorithm_only() -> None:
    assert suits(EC, "ES256") and suits(RSA, "PS256") and suits({"kty": "OKP"}, "EdDSA")
    assert not suits(EC, "ES384") and not suits(EC, "RS256") and not suits(RSA, "ES256")
    assert not suits({**RSA, "alg": "RS512"}, "RS256") and not suits(RSA, "EdDSA")
