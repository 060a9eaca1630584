"""The archive of ``toolspan doctor --bundle``: what is in it, and that no secret is."""

from __future__ import annotations

import base64
import io
import json
import os
import string
import tempfile
import zipfile
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cli import toolspan
from toolspan_bridge.cli.doctor.bundle import write_bundle
from toolspan_bridge.cli.doctor.finding import problem
from toolspan_bridge.cli.doctor.surroundings import Surroundings
from toolspan_bridge.sessions.chosen.config import ConfigChoice

pytestmark = pytest.mark.requirement("I13.1.16")
_REST = string.ascii_letters + string.digits + "!$%&*+=_-#@: "
SECRETS = st.lists(
    st.builds(str.__add__, st.sampled_from("qzQZ"), st.text(_REST, min_size=9, max_size=40)).map(str.rstrip),
    min_size=10,
    max_size=10,
    unique=True,
).filter(lambda found: all(len(each) > 8 and "${" not in each for each in found))


def planted(secrets: list[str]) -> tuple[dict[str, str], str]:
    """An environment and a config with each of ``secrets`` in another place."""
    by_env, named, header, env, flag, query, password, key, token, bearer = secrets
    config = {
        "mcpServers": {
            "one": {"command": "x", "args": ["--api-key", flag, "${PLAIN}"], "env": {"ANY": env}},
            "two": {"url": f"https://h.example/?token={quote(query, safe='')}", "headers": {"X-Any": header}},
            "three": {"url": f"https://ann:{quote(password, safe='')}@h.example/"},
        },
        "providers": {"own": {"base_url": "https://h.example", "api_key": key}},
        "tools": {
            "sources": [{"type": "openapi", "auth": {"type": "bearer", "value": bearer}, "url_token": token}]
        },
    }
    return {"MY_API_KEY": by_env, "PLAIN": named}, json.dumps(config)


def spellings(secret: str) -> list[str]:
    """``secret`` as logs have it."""
    in_base64 = base64.b64encode(f"user:{secret}".encode()).decode()
    return [secret, json.dumps(secret), json.dumps(json.dumps(secret)), quote(secret, safe=""), in_base64]


def texts_of(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "\n".join([*archive.namelist(), *(archive.read(name).decode() for name in archive.namelist())])


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(SECRETS)
def test_no_planted_secret_is_in_the_archive_however_it_is_spelt(secrets: list[str]) -> None:
    variables, config = planted(secrets)
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, variables):
        folder = Path(name)
        (folder / "toolspan.yaml").write_text(config)
        log = "\n".join(f"request with {each} sent" for secret in secrets for each in spellings(secret))
        (folder / "server.log").write_text(log)
        around = Surroundings.of(ConfigChoice((str(folder / "toolspan.yaml"),)))
        found = {"servers": [problem(f"it said: {secret}", "look") for secret in secrets]}
        write_bundle(folder / "r.zip", around, found, [folder / "server.log"], conversations=False)
        whole = texts_of((folder / "r.zip").read_bytes())
    for secret in secrets:
        for each in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
            assert each not in whole
        assert base64.b64encode(secret.encode()).decode()[4:-4] not in whole
    assert whole.count("request with ***") >= len(secrets)


def test_a_config_that_cannot_be_read_keeps_its_secrets_too(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(
        "providers:\n  own:\n    api_key: planted secret here\n  - broken [\n"
    )
    around = Surroundings.of(ConfigChoice((str(tmp_path / "toolspan.yaml"),)))
    assert around.error is not None
    write_bundle(tmp_path / "r.zip", around, {}, [], conversations=False)
    assert "planted secret" not in texts_of((tmp_path / "r.zip").read_bytes())


def test_what_is_in_it_and_conversations_only_where_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("# a remark\ntools: {registry: []}\n")
    assert toolspan("ask", "Something said in confidence", cwd=tmp_path, OPENAI_API_KEY="").code in (0, 5)
    around = Surroundings.of(ConfigChoice((str(tmp_path / "toolspan.yaml"),)))
    for asked in (False, True):
        write_bundle(tmp_path / "r.zip", around, {}, [], conversations=asked)
        data = (tmp_path / "r.zip").read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            assert json.loads(archive.read("environment.json"))["PATH"] == "(set)"
        assert names[:4] == ["report.json", "versions.txt", "environment.json", "config/1-toolspan.yaml"]
        assert "# a remark" in texts_of(data)
        assert ("said in confidence" in texts_of(data)) == asked
    assert (tmp_path / "r.zip").stat().st_mode & 0o077 == 0


@pytest.mark.long
def test_by_the_command_with_a_log_and_only_with_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("Authorization: Bearer sk-live-0123456789abcdefghij\nit broke\n")
    refused = toolspan("doctor", "--log", "x.log", "--json", cwd=tmp_path)
    assert (refused.code, "--bundle" in refused.error["message"]) == (2, True)
    ran = toolspan("doctor", "--bundle", "r.zip", "--log", "x.log", cwd=tmp_path)
    assert "r.zip was written" in ran.err
    whole = texts_of((tmp_path / "r.zip").read_bytes())
    assert "it broke" in whole and "sk-live" not in whole
    gone = toolspan("doctor", "--bundle", "missing/r.zip", cwd=tmp_path)
    assert (gone.code, "missing" in gone.err) == (2, True)


def test_a_file_that_is_no_archive_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("name: shop\n")
    ran = toolspan("doctor", "--bundle", "toolspan.yaml", cwd=tmp_path)
    assert ran.code == 2 and "toolspan.yaml is there and no archive: name another file" in ran.err
    assert (tmp_path / "toolspan.yaml").read_text() == "name: shop\n"
    for _ in range(2):
        assert toolspan("doctor", "--bundle", "report.zip", cwd=tmp_path).code == 0
