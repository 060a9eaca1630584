"""Secrets in entries are replaced, and no variable stands for two of them."""

from __future__ import annotations

from typing import Any

import pytest

from toolspan_bridge.cli.other_clients.discovery import Replacements, without_secrets

pytestmark = pytest.mark.requirement("I12.2.73")
KEY = "hunter2-a-long-one"


def replaced(entry: dict[str, Any], name: str = "git") -> tuple[dict[str, Any], set[str]]:
    replacements = Replacements()
    return without_secrets(entry, replacements.of(name)), set(replacements.names)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"env": {"GITHUB_TOKEN": KEY}}, {"env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}}),
        ({"env": {"apiKey": KEY}}, {"env": {"apiKey": "${GIT_APIKEY}"}}),
        ({"env": {"ANYTHING": "ghp_0123456789abcdefABCDEF"}}, {"env": {"ANYTHING": "${ANYTHING}"}}),
        (
            {"env": {"DB": f"postgresql://me:{KEY}@host/db"}},
            {"env": {"DB": "postgresql://me:${GIT_DB_PASSWORD}@host/db"}},
        ),
        (
            {"headers": {"Authorization": f"Bearer {KEY}"}},
            {"headers": {"Authorization": "Bearer ${GIT_AUTHORIZATION}"}},
        ),
        ({"headers": {"X-API-Key": KEY}}, {"headers": {"X-API-Key": "${GIT_X_API_KEY}"}}),
        ({"args": ["--api-key", KEY]}, {"args": ["--api-key", "${GIT_API_KEY}"]}),
        ({"args": [f"--token={KEY}"]}, {"args": ["--token=${GIT_TOKEN}"]}),
        ({"args": ["-e", f"API_KEY={KEY}", "image"]}, {"args": ["-e", "API_KEY=${API_KEY}", "image"]}),
        (
            {"args": ["mcp-remote", "--header", f"Authorization: Bearer {KEY}"]},
            {"args": ["mcp-remote", "--header", "Authorization: Bearer ${GIT_AUTHORIZATION}"]},
        ),
        (
            {"args": [f"postgres://u:{KEY}@h:5/d"]},
            {"args": ["postgres://u:${GIT_SECRET_PASSWORD}@h:5/d"]},
        ),
        ({"args": ["sk-0123456789abcdef01"]}, {"args": ["${GIT_SECRET}"]}),
        (
            {"url": f"https://x.example/mcp?profile=free&api_key={KEY}&a=1"},
            {"url": "https://x.example/mcp?profile=free&api_key=${GIT_API_KEY}&a=1"},
        ),
    ],
)
def test_a_secret_becomes_a_variable(entry: dict[str, Any], expected: dict[str, Any]) -> None:
    found, names = replaced({"command": "x", **entry})
    assert found == {"command": "x", **expected}
    assert len(names) == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"env": {"LOG_LEVEL": "debug", "PORT": "8080", "HOME_DIR": "/home/ann"}},
        {"env": {"TOKEN": "${MY_TOKEN}", "KEY_FILE": "/etc/keys/a.pem", "AUTH": "true", "EMPTY_KEY": ""}},
        {"args": ["-y", "@modelcontextprotocol/server-filesystem@2026.1.14", "/home/ann/notes"]},
        {"args": ["run", "--rm", "-i", "-e", "API_KEY", "ghcr.io/example/server:1.0"]},
        {"url": "https://x.example/mcp?profile=free"},
    ],
)
def test_what_is_no_secret_stays(entry: dict[str, Any]) -> None:
    assert replaced(entry) == (entry, set())


def test_two_values_never_share_a_variable_and_one_value_has_one() -> None:
    replacements = Replacements({"API_KEY": "from the environment"})
    entries = [{"env": {"API_KEY": value}} for value in ("first-secret", "second-secret", "first-secret")]
    names = ("one", "two", "one")
    written = [
        without_secrets(entry, replacements.of(name))["env"]["API_KEY"]
        for name, entry in zip(names, entries, strict=True)
    ]
    assert written == ["${ONE_API_KEY}", "${TWO_API_KEY}", "${ONE_API_KEY}"]
