"""What a server or an authorization server says about a sign-in is not taken on trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.authority import Answer, Authority, Guarded, open_site
from tests.support.signing_in import Visitor, called, connected, kept

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I12.2.48")]
Sites = tuple[Authority, Guarded]


async def refusal(guarded: Guarded, person: Visitor | None = None) -> str:
    """Why nobody could sign in to ``guarded``."""
    async with connected(f"{guarded.url}/mcp", person or Visitor()) as toolbox:
        [failure] = toolbox.failures
        assert failure.needs_sign_in
        return failure.reason


CALLBACKS = {
    "another issuer": ({"iss": "https://evil.example"}, "another issuer"),
    "the issuer with a slash": ({"iss": "{issuer}/"}, "another issuer"),
    "no issuer where one is promised": ({"iss": None}, "without saying from whom"),
    "no code": ({"code": None}, "without a code"),
    "an error": ({"code": None, "error": "access_denied", "error_description": "not you"}, "not you"),
}


@pytest.mark.parametrize("name", CALLBACKS)
async def test_an_answer_that_is_not_to_what_was_asked_gets_no_token(
    state: Path, sites: Sites, name: str
) -> None:
    authority, guarded = sites
    changes, said = CALLBACKS[name]
    authority.callback = {key: value and value.format(issuer=authority.url) for key, value in changes.items()}
    assert said in await refusal(guarded)
    assert "/token" not in authority.paths()


METADATA = {
    "another issuer": ({"issuer": "https://evil.example"}, "another issuer"),
    "no PKCE": ({"code_challenge_methods_supported": None}, "PKCE"),
    "plain PKCE": ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
    "a script": ({"authorization_endpoint": "javascript:alert(1)"}, "no metadata"),
    "a file": ({"authorization_endpoint": "file:///etc/passwd"}, "no metadata"),
    "tokens in the clear": ({"token_endpoint": "http://tokens.example/token"}, "only https"),
    "a page in the clear": ({"authorization_endpoint": "http://login.example/"}, "only https"),
    "a person's name in the address": ({"token_endpoint": "https://a:b@c.example/"}, "no http or https URL"),
    "registration in the clear": ({"registration_endpoint": "http://r.example/"}, "only https"),
    "a code page in the clear": ({"device_authorization_endpoint": "http://d.example/"}, "only https"),
}


@pytest.mark.parametrize("name", METADATA)
async def test_an_authority_that_is_not_safe_is_refused_before_anybody_is_asked(
    state: Path, sites: Sites, name: str
) -> None:
    authority, guarded = sites
    changes, said = METADATA[name]
    authority.metadata |= changes
    person = Visitor()
    assert said in await refusal(guarded, person)
    assert person.opened == []
    assert "/register" not in authority.paths()


RESOURCES: dict[str, tuple[dict[str, object], str]] = {
    "of another server": ({"resource": "https://bank.example/mcp"}, "another resource"),
    "an authority that is a script": ({"authorization_servers": ["javascript:alert(1)"]}, "sign in by OAuth"),
    "an authority that is a file": ({"authorization_servers": ["file:///etc/passwd"]}, "sign in by OAuth"),
    "an authority in the clear": ({"authorization_servers": ["http://login.example"]}, "only https"),
}


@pytest.mark.parametrize("name", RESOURCES)
async def test_metadata_of_a_server_that_is_not_its_own_or_not_safe_is_refused(
    state: Path, sites: Sites, name: str
) -> None:
    authority, guarded = sites
    changes, said = RESOURCES[name]
    guarded.resource_metadata |= changes
    guarded.challenge = (
        f'Digest realm="x", Bearer resource_metadata="{guarded.url}/.well-known/oauth-protected-resource/mcp"'
    )
    person = Visitor()
    reason = await refusal(guarded, person)
    assert said in reason or "gives no token" in reason or "does not register" in reason, reason
    assert person.opened == []
    assert authority.asked == []


async def test_an_address_on_this_machine_is_refused_where_a_far_server_names_it() -> None:
    from toolspan_bridge.errors import AuthError
    from toolspan_bridge.oauth._addresses import checked

    for url in ("http://127.0.0.1:6379/", "https://localhost/token", "http://[::1]:80/x"):
        with pytest.raises(AuthError, match="on this machine"):
            checked(url, "token endpoint", "https://far.example/mcp")


async def test_metadata_that_the_challenge_names_elsewhere_is_not_asked_for(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    elsewhere = Guarded(authority)
    with open_site(elsewhere):
        guarded.challenge = (
            f'Bearer resource_metadata="{elsewhere.url}/.well-known/oauth-protected-resource/mcp"'
        )
        async with connected(f"{guarded.url}/mcp", Visitor()) as toolbox:
            assert (await called(toolbox))["success"]
        assert elsewhere.asked == []


async def test_a_token_goes_to_its_server_only(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    other = Guarded(authority)
    with open_site(other):
        async with connected(f"{guarded.url}/mcp", Visitor()):
            pass
        mcp = guarded.routes["/mcp"]
        guarded.routes["/mcp"] = lambda asked: (
            Answer(307, headers={"location": f"{other.url}/mcp"})
            if b"tools/call" in asked.body
            else mcp(asked)
        )
        async with connected(f"{guarded.url}/mcp", None) as toolbox:
            assert not (await called(toolbox))["success"]
        async with connected(f"{other.url}/mcp", None) as toolbox:
            assert toolbox.failures[0].needs_sign_in
        assert all("authorization" not in each.headers for each in other.asked)
    assert all("authorization" not in each.headers for each in authority.asked)
    documents = [each for each in guarded.asked if each.path != "/mcp"]
    assert all("authorization" not in each.headers for each in documents)


async def test_another_issuer_gets_neither_the_client_nor_the_tokens_of_the_first(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    [first] = authority.clients
    second = Authority()
    with open_site(second):
        second.clients["taken"] = {}
        guarded.authority = second
        async with connected(f"{guarded.url}/mcp", Visitor()) as toolbox:
            assert (await called(toolbox))["success"]
        sent = (
            b" ".join(each.body for each in second.asked)
            + str([each.query for each in second.asked]).encode()
        )
        assert first.encode() not in sent
        [entry] = kept(state).values()
        assert entry["issuer"] == second.url


async def test_a_secret_of_the_config_stays_with_the_issuer_that_it_was_used_at(
    state: Path, sites: Sites
) -> None:
    _, guarded = sites
    oauth = {"client_id": "robot", "client_secret": "r0b0t-secret", "grant": "client_credentials"}
    async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
        assert (await called(toolbox))["success"]
    second = Authority()
    with open_site(second):
        guarded.authority = second
        async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
            assert "belongs to" in toolbox.failures[0].reason
        assert "/token" not in second.paths()


async def test_a_server_that_takes_no_token_is_signed_in_to_once(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    granted = authority.granted
    authority.granted = lambda *given: (granted(*given), authority.live.clear())[0]
    person = Visitor()
    assert "does not take the sign-in" in await refusal(guarded, person)
    assert len(person.asked) == 1


TOKENS: dict[str, Callable[[Authority], Answer]] = {
    "no token": lambda _: Answer(data={}),
    "a token of another type": lambda _: Answer(data={"access_token": "x", "token_type": "DPoP"}),
    "a token with a line break": lambda _: Answer(data={"access_token": "x\r\nX-Evil: 1"}),
    "a huge answer": lambda _: Answer(data={"access_token": "x", "more": "y" * 2_000_000}),
    "a page": lambda _: Answer(200),
}


@pytest.mark.parametrize("name", TOKENS)
async def test_an_answer_that_is_no_token_signs_nobody_in(state: Path, sites: Sites, name: str) -> None:
    authority, guarded = sites
    authority.routes["/token"] = lambda _: TOKENS[name](authority)
    await refusal(guarded)
    assert not (state / "toolspan" / "sign-ins.json").exists()
