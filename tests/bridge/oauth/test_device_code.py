"""A code that is typed on another device (RFC 8628): what the authorization server answers meanwhile."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.authority import Answer, Asked, Authority, Guarded
from tests.support.cli import toolspan_process
from tests.support.signing_in import Visitor, called, connected
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.2.91")]

Sites = tuple[Authority, Guarded]


def answering(authority: Authority, *errors: str) -> Callable[[Asked], Answer]:
    """The token endpoint with ``errors`` first, the last of them again and again when it is ``…``."""
    left = list(errors)

    def token(asked: Asked) -> Answer:
        if left[:1] == ["…"]:
            return Answer(400, {"error": "authorization_pending"})
        return Answer(400, {"error": left.pop(0)}) if left else authority.token(asked)

    return token


@pytest.mark.anyio
async def test_who_asks_too_often_asks_five_seconds_later_from_then_on(state: Path, sites: Sites) -> None:
    authority, guarded = sites
    at: list[float] = []
    script = answering(authority, "authorization_pending", "slow_down")

    def token(asked: Asked) -> Answer:
        at.append(time.monotonic())
        return script(asked)

    authority.routes["/token"] = token
    async with connected(f"{guarded.url}/mcp", Visitor(has_browser=False)) as toolbox:
        assert (await called(toolbox))["success"]
    pending, slowed, good = at
    assert slowed - pending >= 1.0
    assert good - slowed >= 6.0


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("access_denied", "the sign-in was refused on the other device ({host}: access_denied)"),
        (
            "expired_token",
            "the code was not used in time ({host}: expired_token): sign in again for another",
        ),
        ("invalid_grant", "{host} gives no token (invalid_grant)"),
    ],
)
def test_a_code_that_comes_to_nothing_says_why_and_keeps_nothing(
    state: Path, tmp_path: Path, sites: Sites, error: str, told: str
) -> None:
    authority, guarded = sites
    authority.routes["/token"] = answering(authority, "authorization_pending", error)
    ran = toolspan_process("servers", "login", f"{guarded.url}/mcp", "--device", "--yes", cwd=tmp_path)
    host = authority.url.removeprefix("http://")
    assert (ran.code, told.format(host=host) in ran.err) == (3, True), ran.err
    assert "code:     WDJB-MJHT" in ran.err
    assert "Traceback" not in ran.err
    assert authority.paths().count("/token") == 2
    assert not list(state.rglob("sign-ins.json"))


@pytest.mark.parametrize(
    ("expires_in", "words", "told"),
    [
        (
            1,
            (),
            "nobody signed in within 1 s, which is how long the code was good: sign in again for another",
        ),
        (600, ("--timeout", "1"), "nobody signed in within 1 s (--timeout allows more)"),
    ],
)
def test_whose_time_was_over_is_said(
    state: Path, tmp_path: Path, sites: Sites, expires_in: int, words: tuple[str, ...], told: str
) -> None:
    authority, guarded = sites
    authority.routes["/token"] = answering(authority, "…")
    device = authority.routes["/device"]
    authority.routes["/device"] = lambda asked: Answer(data={**device(asked).data, "expires_in": expires_in})
    login = ("servers", "login", f"{guarded.url}/mcp", "--device", "--yes", *words)
    ran = toolspan_process(*login, cwd=tmp_path)
    assert (ran.code, told in ran.err) == (3, True), ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_ctrl_c_ends_the_wait_for_the_other_device(state: Path, tmp_path: Path, sites: Sites) -> None:
    authority, guarded = sites
    authority.routes["/token"] = answering(authority, "…")
    login = ("servers", "login", f"{guarded.url}/mcp", "--device", "--yes")
    with Terminal(*login, cwd=tmp_path) as terminal:
        terminal.until("WDJB-MJHT")
        terminal.type("\x03")
        assert terminal.ended() == 130
        assert "Traceback" not in terminal.shown
    assert authority.live == {}
    assert not list(state.rglob("sign-ins.json"))
