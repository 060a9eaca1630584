"""Signing in to a remote server, as the toolbox does it: first, again, with more scopes, by a device."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.support.authority import Answer, Asked, Authority, Guarded, past
from tests.support.signing_in import Visitor, called, change_kept, connected, kept
from toolspan_bridge import ServerSpec
from toolspan_bridge.oauth import SignInStore
from toolspan_bridge.oauth.login import logout

pytestmark = [pytest.mark.long, pytest.mark.anyio]
Sites = tuple[Authority, Guarded]


@pytest.mark.requirement("I12.2.40")
async def test_a_first_sign_in_registers_asks_and_calls(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    person = Visitor()
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        assert toolbox.failures == ()
        assert (await called(toolbox))["success"]
    [request] = person.asked
    assert (request.server, request.issuer) == (f"{guarded.url}/mcp", authority.url)
    assert request.scopes == ("notes:read",)
    [registered] = authority.clients.values()
    assert registered["application_type"] == "native"
    [authorize] = [each for each in authority.asked if each.path == "/authorize"]
    assert authorize.query["code_challenge_method"] == "S256"
    assert authorize.query["resource"] == f"{guarded.url}/mcp"
    assert authorize.query["redirect_uri"].startswith("http://127.0.0.1:")


@pytest.mark.requirement("I12.2.41")
async def test_what_is_kept_signs_in_after_a_restart_and_is_its_owners_alone(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    path = state / "toolspan" / "sign-ins.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [(server, entry)] = kept(state).items()
    assert (server, entry["issuer"], entry["place"]) == (f"{guarded.url}/mcp", authority.url, "file")
    seen = len(authority.asked)
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        assert (await called(toolbox))["success"]
    assert len(authority.asked) == seen


@pytest.mark.requirement("I12.2.42")
async def test_an_expired_token_is_renewed_at_its_own_issuer_without_a_person(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    change_kept(state, expires_at=past())
    seen = len(guarded.asked)
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        assert (await called(toolbox))["success"]
    assert authority.asked[-1].form["grant_type"] == "refresh_token"
    assert authority.asked[-1].form["resource"] == f"{guarded.url}/mcp"
    assert set(guarded.paths()[seen:]) == {"/mcp"}, "nothing is asked where the token does not belong"


@pytest.mark.requirement("I12.2.42")
async def test_a_token_that_the_server_refuses_is_renewed_too(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    authority.expires_in = None
    async with connected(f"{guarded.url}/mcp", Visitor()) as toolbox:
        authority.live.clear()
        assert (await called(toolbox))["success"]
    assert authority.paths().count("/authorize") == 1


@pytest.mark.requirement("I12.2.42")
async def test_after_a_revoked_renewal_a_person_is_asked_again_and_without_one_the_command_is_named(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    authority.refresh.clear()
    authority.live.clear()
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        [failure] = toolbox.failures
    assert failure.needs_sign_in
    assert f"toolspan servers login {guarded.url}/mcp" in failure.reason
    person = Visitor()
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        assert (await called(toolbox))["success"]
    assert person.asked[0].has_signed_in
    assert len(authority.clients) in (1, 2), "the client may be known still"


@pytest.mark.requirement("I12.2.42")
async def test_a_token_that_ends_during_a_session_is_renewed_before_it_is_refused(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    authority.expires_in = 0
    async with connected(f"{guarded.url}/mcp", Visitor()) as toolbox:
        authority.expires_in = 3_600
        assert (await called(toolbox))["success"]
        seen = len(authority.asked)
        assert (await called(toolbox))["success"]
    assert len(authority.asked) == seen, "the new one is good for an hour"
    refused = [each for each in guarded.asked if "authorization" not in each.headers and each.path == "/mcp"]
    assert len(refused) == 1, "only the first request of all was made without a good token"


@pytest.mark.requirement("I12.2.42")
async def test_a_renewal_refused_during_a_session_asks_the_person_and_without_one_the_call_says_what_to_do(
    state: Path, sites: Sites
) -> None:
    authority, guarded = sites
    person = Visitor()
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        authority.refresh.clear()
        authority.live.clear()
        assert (await called(toolbox))["success"]
    assert [request.has_signed_in for request in person.asked] == [False, True]
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        authority.refresh.clear()
        authority.live.clear()
        for _ in range(2):
            result = await called(toolbox)
            assert (result["success"], result.get("error_code")) == (False, "not_authorized")
            assert f"toolspan servers login {guarded.url}/mcp" in result["error"]


@pytest.mark.requirement("I12.2.49")
async def test_a_sign_out_holds_for_a_session_that_is_connected_too(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    authority.metadata["revocation_endpoint"] = None
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    spec = ServerSpec("notes", "http", url=f"{guarded.url}/mcp")
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        assert (await logout(spec, SignInStore()))[0]
        authority.live.clear()
        result = await called(toolbox)
        assert (result["success"], result.get("error_code")) == (False, "not_authorized")
    assert kept(state) == {}, "what was still in memory does not sign in again"
    grants = [each.form["grant_type"] for each in authority.asked if each.path == "/token"]
    assert grants == ["authorization_code"]


@pytest.mark.requirement("I12.2.42")
async def test_an_authority_that_is_down_costs_nobody_their_sign_in(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    change_kept(state, expires_at=past())
    token = authority.routes["/token"]
    authority.routes["/token"] = lambda _: Answer(503)
    authority.live.clear()
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        [failure] = toolbox.failures
    assert "HTTP 503" in failure.reason
    authority.routes["/token"] = token
    async with connected(f"{guarded.url}/mcp", None) as toolbox:
        assert (await called(toolbox))["success"]


@pytest.mark.requirement("I12.2.43")
async def test_a_call_that_needs_more_asks_for_both_old_and_new_scopes(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    person = Visitor()
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        assert (await called(toolbox, "write"))["success"]
        assert (await called(toolbox, "read"))["success"]
    assert [request.scopes for request in person.asked] == [
        ("notes:read",),
        ("notes:read", "notes:write"),
    ]
    assert len(authority.clients) == 1


@pytest.mark.requirement("I12.2.43")
async def test_more_scopes_that_nobody_allows_fail_the_call_alone(state: Path, sites: Sites) -> None:
    _, guarded = sites
    person = Visitor()
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        person.agrees = False
        for _ in range(2):
            result = await called(toolbox, "write")
            assert (result["success"], result.get("error_code")) == (False, "not_authorized")
        assert len(person.asked) == 2, "a no is not asked about again"
        assert (await called(toolbox, "read"))["success"]


@pytest.mark.requirement("I12.2.43")
async def test_a_server_that_wants_ever_more_of_the_same_is_given_up(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    person = Visitor()
    guarded.scopes["read"] = "notes:read never"
    grant = authority.granted
    authority.granted = lambda scope, *rest: grant(scope.replace("never", ""), *rest)
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        assert (await called(toolbox))["error_code"] == "not_authorized"
        assert (await called(toolbox))["error_code"] == "not_authorized"
    assert len(person.asked) == 2


@pytest.mark.requirement("I12.2.44")
async def test_without_a_browser_a_code_is_shown_and_waited_for(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    authority.pending = 1
    person = Visitor(has_browser=False)
    async with connected(f"{guarded.url}/mcp", person) as toolbox:
        assert (await called(toolbox))["success"]
    [code] = person.codes
    assert (code.url, code.code) == (f"{authority.url}/go", "WDJB-MJHT")
    assert person.opened == []
    assert authority.paths().count("/token") == 2


@pytest.mark.requirement("I12.2.45")
async def test_two_processes_that_renew_at_once_ask_once(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    async with connected(f"{guarded.url}/mcp", Visitor()):
        pass
    change_kept(state, expires_at=past())

    async def use() -> None:
        async with connected(f"{guarded.url}/mcp", None) as toolbox:
            assert (await called(toolbox))["success"]

    async with anyio.create_task_group() as tasks:  # each with its own authorization, as two processes have
        for _ in range(3):
            tasks.start_soon(use)
    grants = [each.form["grant_type"] for each in authority.asked if each.path == "/token"]
    assert grants == ["authorization_code", "refresh_token"]


@pytest.mark.requirement("I12.2.46")
async def test_the_time_of_a_person_is_not_the_servers(
    state: Path, sites: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 1.0)
    _, guarded = sites
    thinking = anyio.Event()

    class Slow(Visitor):
        async def allows(self, request: object) -> bool:
            with anyio.move_on_after(1.5):
                await thinking.wait()
            return True

    from toolspan_bridge import ServerSpec, Toolbox
    from toolspan_bridge.oauth import SignInWay

    spec = ServerSpec("notes", "http", url=f"{guarded.url}/mcp", call_timeout=1.0)
    async with Toolbox.connect([spec], connect_timeout=1.0, sign_in=SignInWay(Slow())) as toolbox:
        assert toolbox.failures == ()
        assert (await called(toolbox, "write"))["success"]
    methods = [each.json["method"] for each in guarded.asked if each.path == "/mcp" and each.body]
    assert "initialize" not in methods, "nothing was given up meanwhile"


@pytest.mark.requirement("I12.2.47")
async def test_a_client_of_the_config_signs_in_as_itself_without_a_person(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    oauth = {
        "client_id": "robot",
        "client_secret": "r0b0t-secret",
        "grant": "client_credentials",
        "scopes": "notes:read",
        "issuer": authority.url,
    }
    async with connected(f"{guarded.url}/mcp", None, **oauth) as toolbox:
        assert (await called(toolbox))["success"]
    assert authority.clients == {}
    assert "r0b0t-secret" not in (state / "toolspan" / "sign-ins.json").read_text()


@pytest.mark.requirement("I12.2.47")
async def test_a_client_of_the_config_uses_its_port_and_registers_nothing(
    state: Path, sites: Sites, unused_port: int
) -> None:
    authority, guarded = sites
    uri = f"http://localhost:{unused_port}/callback"
    authority.clients["mine"] = {"redirect_uris": [uri]}
    oauth = {"client_id": "mine", "callback_port": unused_port}
    async with connected(f"{guarded.url}/mcp", Visitor(), **oauth) as toolbox:
        assert (await called(toolbox))["success"]
    assert "/register" not in authority.paths()


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


@pytest.mark.requirement("I12.2.47")
async def test_a_document_names_the_client_where_the_authority_takes_such(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    document = "https://client.example/toolspan.json"
    authority.metadata["client_id_metadata_document_supported"] = True
    authority.routes["/authorize"] = _known_by(authority, document)
    async with connected(f"{guarded.url}/mcp", Visitor(), client_metadata_url=document) as toolbox:
        assert (await called(toolbox))["success"]
    assert "/register" not in authority.paths()


def _known_by(authority: Authority, document: str) -> Callable[[Asked], Answer]:
    def authorize(asked: Asked) -> Answer:
        authority.clients[document] = {"redirect_uris": [asked.query["redirect_uri"]]}
        return authority.authorize(asked)

    return authorize
