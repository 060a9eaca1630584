"""Signing in by a signed token: a workload's own, or one that a company's identity provider gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import ValidationError

from tests.support.authority import Authority, Guarded, open_site
from tests.support.identity_provider import CLIENT, IdentityProvider
from tests.support.signing_in import Visitor, called, connected, kept
from toolspan_server.schema.oauth_client import OAuthClientConfig

pytestmark = [pytest.mark.long, pytest.mark.anyio]
Sites = tuple[Authority, Guarded]


@pytest.fixture
def company(sites: Sites) -> Iterator[IdentityProvider]:
    """The identity provider that the MCP server's authorization server trusts."""
    provider = IdentityProvider(sites[0])
    with open_site(provider):
        yield provider


def by_company(company: IdentityProvider, **more: Any) -> dict[str, Any]:
    """A server's ``oauth``, with which people sign in by the company."""
    provider = {"issuer": company.url, "client_id": CLIENT, **more}
    credentials = {"client_id": "toolspan", "client_secret": "s3cret-of-toolspan"}
    return {"grant": "jwt_bearer", **credentials, "identity_provider": provider}


@pytest.fixture(autouse=True)
def registered(request: pytest.FixtureRequest, unused_port: int) -> dict[str, Any]:
    """The client that the company knows, where the browser comes back to."""
    if "company" in request.fixturenames:
        company = request.getfixturevalue("company")
        company.clients[CLIENT] = {"redirect_uris": [f"http://localhost:{unused_port}/callback"]}
    return {"callback_port": unused_port}


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


@pytest.mark.requirement("I12.2.85")
async def test_a_person_signs_in_at_the_company_once_and_every_server_takes_it(
    state: Path, sites: Sites, company: IdentityProvider, registered: dict[str, Any]
) -> None:
    authority, guarded = sites
    person, oauth = Visitor(), by_company(company) | registered
    async with connected(f"{guarded.url}/mcp", person, **oauth) as toolbox:
        assert (await called(toolbox))["success"]
    [request] = person.asked
    assert (request.server, request.issuer) == (f"{guarded.url}/mcp", company.url)
    assert "/authorize" not in authority.paths(), "nobody is asked at the MCP server's own"
    [exchange] = company.exchanges
    assert exchange.form["audience"] == authority.url
    assert exchange.form["resource"] == f"{guarded.url}/mcp"
    second = Guarded(authority)
    with open_site(second):
        async with connected(f"{second.url}/mcp", None, **oauth) as toolbox:
            assert (await called(toolbox))["success"]
    assert len(company.exchanges) == 2
    secrets = json.dumps([kept(state)[f"{guarded.url}/mcp"], kept(state)[company.url]])
    assert "s3cret-of-toolspan" not in secrets


@pytest.mark.requirement("I12.2.85")
async def test_an_id_token_that_has_ended_is_renewed_or_asked_for_and_without_a_person_it_is_said(
    state: Path, sites: Sites, company: IdentityProvider, registered: dict[str, Any]
) -> None:
    authority, guarded = sites
    oauth = by_company(company) | registered
    company.id_seconds = 0
    async with connected(f"{guarded.url}/mcp", Visitor(), **oauth) as toolbox:
        assert "without a usable ID token" in toolbox.failures[0].reason
    company.id_seconds = 600
    async with connected(f"{guarded.url}/mcp", Visitor(), **oauth):
        pass
    change_id_token(state, company, "")
    authority.live.clear()
    authority.refresh.clear()
    async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
        assert (await called(toolbox))["success"]
    assert company.asked[-2].form["grant_type"] == "refresh_token"
    change_id_token(state, company, "")
    for site in sites[0], company:
        site.refresh.clear()
        site.live.clear()
    async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
        [failure] = toolbox.failures
    assert "nobody is signed in at" in failure.reason
    assert "toolspan servers login notes" in failure.reason
    person = Visitor()
    async with connected(f"{guarded.url}/mcp", person, **oauth) as toolbox:
        assert (await called(toolbox))["success"]
    assert len(person.asked) == 1


def change_id_token(state: Path, company: IdentityProvider, token: str) -> None:
    path = state / "toolspan" / "sign-ins.json"
    document = json.loads(path.read_text())
    document["servers"][company.url]["secrets"]["id_token"] = token
    path.write_text(json.dumps(document))


@pytest.mark.requirement("I12.2.85")
async def test_what_the_company_does_not_allow_is_told_once_and_not_asked_for_elsewhere(
    state: Path, sites: Sites, company: IdentityProvider, tmp_path: Path
) -> None:
    authority, guarded = sites
    company.refuses = {"error": "access_denied", "error_description": "ann may not use notes"}
    file = tmp_path / "id.jwt"
    file.write_text(company.id_token() + "\n")
    oauth = by_company(company, id_token_file=str(file))
    async with connected(f"{guarded.url}/mcp", Visitor(), **oauth) as toolbox:
        [failure] = toolbox.failures
    assert "ann may not use notes" in failure.reason
    assert len(company.exchanges) == 1
    assert "/token" not in authority.paths()
    company.refuses = None
    async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
        assert (await called(toolbox))["success"]


def by_workload(authority: Authority, file: Path) -> dict[str, Any]:
    """A server's ``oauth``, with which a workload signs in."""
    return {
        "grant": "jwt_bearer",
        "client_id": "nightly",
        "issuer": authority.url,
        "assertion_file": str(file),
    }


@pytest.mark.requirement("I12.2.86")
async def test_a_workload_signs_in_with_the_token_that_its_file_has_by_then(
    state: Path, sites: Sites, tmp_path: Path
) -> None:
    authority, guarded = sites
    file = tmp_path / "workload.jwt"
    file.write_text("first.workload.token\n")
    authority.assertions.add("first.workload.token")
    async with connected(f"{guarded.url}/mcp", None, **by_workload(authority, file)) as toolbox:
        assert (await called(toolbox))["success"]
        file.write_text("second.workload.token\n")
        authority.assertions = {"second.workload.token"}
        authority.live.clear()
        authority.refresh.clear()
        assert (await called(toolbox))["success"]
    sent = [each.form["assertion"] for each in authority.asked if "assertion" in each.form]
    assert sent == ["first.workload.token", "second.workload.token"]
    assert "workload.token" not in (state / "toolspan" / "sign-ins.json").read_text()


@pytest.mark.requirement("I12.2.86")
async def test_a_workloads_token_that_is_refused_or_cannot_be_read_is_told_and_not_tried_again(
    state: Path, sites: Sites, tmp_path: Path
) -> None:
    authority, guarded = sites
    file = tmp_path / "workload.jwt"
    oauth = by_workload(authority, file)
    for contents, said in ((None, "cannot be read"), ("", "empty"), ("two words", "spaces")):
        if contents is not None:
            file.write_text(contents)
        async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
            assert said in toolbox.failures[0].reason
    assert "/token" not in authority.paths()
    file.write_text("unknown.workload.token")
    async with connected(f"{guarded.url}/mcp", Visitor(), **oauth) as toolbox:
        reason = toolbox.failures[0].reason
    assert "who is that?" in reason
    assert "unknown.workload.token" not in reason
    assert authority.paths().count("/token") == 1


@pytest.mark.requirement("I12.2.86")
async def test_a_workloads_token_goes_to_its_issuer_only(state: Path, sites: Sites, tmp_path: Path) -> None:
    _, guarded = sites
    file = tmp_path / "workload.jwt"
    file.write_text("a.workload.token")
    other = Authority()
    with open_site(other):
        oauth = by_workload(other, file)
        async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
            assert "not at the issuer of its oauth" in toolbox.failures[0].reason
    assert "/token" not in sites[0].paths()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no token": ({"client_id": "x"}, "jwt_bearer needs a token"),
    "no client": ({"assertion_file": "t", "issuer": "https://a.example"}, "jwt_bearer needs a client"),
    "no issuer": ({"client_id": "x", "assertion_file": "t"}, "without an issuer"),
    "another grant": (
        {"grant": "client_credentials", "client_id": "x", "client_secret": "y", "assertion_file": "t"},
        "only jwt_bearer uses assertion_file",
    ),
}


@pytest.mark.requirement("I12.2.86")
@pytest.mark.parametrize("name", WRONG)
def test_settings_that_contradict_each_other_are_told(name: str) -> None:
    settings, said = WRONG[name]
    with pytest.raises(ValidationError, match=said):
        OAuthClientConfig(**{"grant": "jwt_bearer", **settings})
