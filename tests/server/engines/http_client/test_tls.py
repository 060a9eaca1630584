"""A certificate that proves nothing ends the call."""

from __future__ import annotations

import datetime
import ssl
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.http_api import http_tool, response, serving

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.3", "I4.4.1")]


def certificate(folder: Path, *names: x509.GeneralName, days: int = 1) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for ``names``, and a server's context that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=10))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "cert.pem", folder / "key.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return public, context


async def resolver(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def test_a_certificate_of_no_known_authority_is_refused(tmp_path: Path) -> None:
    _, tls = certificate(tmp_path, x509.DNSName("api.test"))
    async with (
        serving(tls=tls) as api,
        http_tool(f"https://api.test:{api.port}/", resolver=resolver) as call,
    ):
        result = await call()
    assert result.error_code == "untrusted_certificate" and "self-signed" in result.error
    assert api.seen == []


async def test_an_authority_may_be_named_and_the_name_is_still_checked(tmp_path: Path) -> None:
    public, tls = certificate(tmp_path, x509.DNSName("api.test"), x509.IPAddress(ip_address("::1")))
    async with serving(lambda _: response("ok"), tls) as api:
        for host, wanted in (("api.test", ""), ("other.test", "untrusted_certificate")):
            url = f"https://{host}:{api.port}/"
            async with http_tool(url, resolver=resolver, ca_file=str(public)) as call:
                assert (await call()).error_code == wanted


async def test_a_certificate_that_has_ended_is_refused(tmp_path: Path) -> None:
    public, tls = certificate(tmp_path, x509.DNSName("api.test"), days=-1)
    async with (
        serving(tls=tls) as api,
        http_tool(f"https://api.test:{api.port}/", resolver=resolver, ca_file=str(public)) as call,
    ):
        assert "expired" in (await call()).error


async def test_a_server_without_tls_is_no_https_server() -> None:
    quick = {"connect_timeout_ms": 200, "retry": {"max_attempts": 1}}
    async with serving() as api, http_tool(f"https://127.0.0.1:{api.port}/", **quick) as call:
        assert (await call()).error_code == "connection_failed"


async def test_a_file_of_authorities_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    async with http_tool("https://127.0.0.1:9/", ca_file=str(tmp_path / "none.pem")) as call:
        assert "none.pem" in (await call()).error
