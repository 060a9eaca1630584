"""Tokens that are bound to a key: a stolen one is of no use (RFC 9449)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.authority import Answer, Authority, Guarded, past
from tests.support.bound_tokens import Bound
from tests.support.signing_in import Visitor, called, change_kept, connected, kept

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I12.2.87")]
Sites = tuple[Authority, Guarded]


@pytest.mark.parametrize("nonce", ["", "n-1"])
async def test_where_both_servers_know_bound_tokens_each_request_proves_the_key(
    state: Path, sites: Sites, nonce: str
) -> None:
    bound = Bound(*sites, nonce=nonce)
    bound.install()
    person = Visitor()
    async with connected(f"{sites[1].url}/mcp", person) as toolbox:
        assert toolbox.failures == ()
        assert (await called(toolbox))["success"]
        bound.nonce = nonce and "n-2"
        assert (await called(toolbox))["success"], "the server's nonce may change at any time"
    assert len(bound.keys) == 1
    assert len(person.asked) == 1
    [entry] = kept(state).values()
    assert "PRIVATE KEY" in entry["secrets"]["proof_key"]


async def test_a_renewed_token_is_bound_to_the_same_key_after_a_restart_too(
    state: Path, sites: Sites
) -> None:
    bound = Bound(*sites, nonce="n-1")
    bound.install()
    async with connected(f"{sites[1].url}/mcp", Visitor()):
        pass
    change_kept(state, expires_at=past())
    async with connected(f"{sites[1].url}/mcp", None) as toolbox:
        assert (await called(toolbox))["success"]
    grants = [each.form["grant_type"] for each in sites[0].asked if each.path == "/token"]
    assert grants[-1] == "refresh_token"
    assert len(bound.keys) == 1


async def test_an_authority_that_gives_a_bearer_token_all_the_same_is_taken_at_its_word(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    authority.metadata["dpop_signing_alg_values_supported"] = ["ES256"]
    guarded.resource_metadata["dpop_signing_alg_values_supported"] = ["ES256"]
    async with connected(f"{guarded.url}/mcp", Visitor()) as toolbox:
        assert (await called(toolbox))["success"]
    [entry] = kept(state).values()
    assert entry["secrets"]["proof_key"] == ""
    assert any("dpop" in each.headers for each in authority.asked)


async def test_a_server_that_never_takes_a_proof_is_given_up_without_asking_again(
    state: Path, sites: Sites
) -> None:
    bound = Bound(*sites)
    bound.install()
    person = Visitor()
    async with connected(f"{sites[1].url}/mcp", person) as toolbox:
        count = iter(range(1_000))
        sites[1].routes["/mcp"] = lambda _: Answer(
            401,
            headers={"www-authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": f"n-{next(count)}"},
        )
        assert not (await called(toolbox))["success"]
    assert next(count) <= 4
    assert len(person.asked) == 1
