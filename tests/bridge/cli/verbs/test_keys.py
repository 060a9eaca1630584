"""Virtual keys on the command line: shown once, listed with what was spent, revoked."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.web.keys import KeyStore
from toolspan_bridge.web.keys.refusals import RevokedKeyError

pytestmark = pytest.mark.requirement("I15.3.45")

CONFIG = """
tools:
  registry: [{name: weather, description: Weather, implementation: {type: mock, mock_response: sunny}}]
toolsets:
  read: {tools: [weather]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    return tmp_path


def keys(folder: Path, *arguments: str) -> Ran:
    return toolspan("keys", *arguments, cwd=folder)


def test_a_key_is_printed_alone_on_stdout_this_once(folder: Path) -> None:
    made = keys(folder, "create", "ci", "--budget-day", "5")
    assert made.code == 0
    assert "shown this once" in made.err
    secret = made.out.strip()
    with closing(KeyStore(folder / ".toolspan")) as store:
        assert store.authenticated(secret).name == "ci"
    for again in (keys(folder, "list"), keys(folder, "show", "ci"), keys(folder, "list", "--json")):
        assert secret not in again.out + again.err
        assert "ci" in again.out


def test_everything_that_a_key_allows_is_kept_and_shown(folder: Path) -> None:
    made = keys(
        folder,
        *("create", "ci", "--model", "openai/*", "--model", "offline/keyword", "--toolset", "read"),
        *("--requests-per-minute", "60", "--tokens-per-minute", "1000", "--budget-month", "20"),
        *("--budget", "100.5", "--expires", "2999-01-31", "--json"),
    ).json
    assert made.pop("key").startswith("sk-toolspan-")
    shown = keys(folder, "show", made["id"], "--json").json
    assert shown.pop("spent") == {
        "usd_today": 0.0,
        "usd_this_month": 0.0,
        "usd_in_all": 0.0,
        "usd_held": 0.0,
        "requests": 0,
        "tokens": 0,
    }
    assert shown == made
    assert made | {"id": "", "created": ""} == {
        "id": "",
        "name": "ci",
        "state": "active",
        "created": "",
        "expires": "2999-01-31T00:00:00Z",
        "revoked": None,
        "models": ["openai/*", "offline/keyword"],
        "toolsets": ["read"],
        "requests_per_minute": 60,
        "tokens_per_minute": 1000,
        "usd_per_day": None,
        "usd_per_month": 20.0,
        "usd_in_all": 100.5,
    }
    assert "spent this month: $0 of $20" in keys(folder, "show", "ci").out


def test_a_revoked_key_stays_listed_and_opens_nothing(folder: Path) -> None:
    secret = keys(folder, "create", "ci").out.strip()
    assert keys(folder, "revoke", "ci", "--json").json["state"] == "revoked"
    assert keys(folder, "list", "--json").json["keys"][0]["state"] == "revoked"
    with closing(KeyStore(folder / ".toolspan")) as store, pytest.raises(RevokedKeyError):
        store.authenticated(secret)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "ci", "--toolset", "write"), "the config has no toolset 'write' (it has: read)"),
        (("create", "a\nb"), "no control characters"),
        (("create", "ci", "--expires", "soon"), "is no time"),
        (("create", "ci", "--expires", "2001-01-01"), "could never be used"),
        (("create", "ci", "--budget", "0"), "0"),
        (("show", "ci"), "there is no key 'ci'"),
        (("revoke", "ci"), "there is no key 'ci'"),
    ],
)
def test_what_cannot_be_meant_is_said_and_makes_no_key(
    folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = keys(folder, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "there are no keys yet" in keys(folder, "list").err
