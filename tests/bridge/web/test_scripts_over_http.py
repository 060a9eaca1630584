"""Models that are files: over HTTP none but a script beside the config is read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.web_app import CONFIG, WebApp, web_app
from toolspan_bridge.errors import UsageError
from toolspan_bridge.providers.catalog.scripted import connect, only_in

pytestmark = pytest.mark.requirement("I15.1.82")

SCRIPT = json.dumps({"turns": [{"text": "Hello."}] * 50})


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    folder = tmp_path_factory.mktemp("app")
    (folder / "own").mkdir()
    (folder / "own" / "script.yaml").write_text(SCRIPT)
    (folder / "elsewhere.yaml").symlink_to(_outside(folder))
    (folder / "secret.env").write_text("turns: a-secret-line\n")
    (folder / "broken.yaml").write_text("key: [a-secret-line\n")
    os.mkfifo(folder / "pipe.yaml")
    with web_app(folder, config=CONFIG + "web: {requests_per_minute: 1000000}\n") as running:
        yield running
        assert running.process.poll() is None


def _outside(folder: Path) -> Path:
    path = folder.parent / "outside-of-it.yaml"
    path.write_text(SCRIPT)
    return path


@pytest.mark.long
@pytest.mark.parametrize(
    "named",
    [
        "/dev/zero",
        "/dev/stdin",
        "/etc/passwd",
        "/proc/self/environ",
        "/nowhere.yaml",
        "../outside-of-it.yaml",
        "elsewhere.yaml",
        "secret.env",
        "pipe.yaml",
        "own",
        "own/../../outside-of-it.yaml",
        "no-such-script.yaml\x00",
    ],
)
def test_another_file_is_refused_alike_whether_it_is_there_or_not(app: WebApp, named: str) -> None:
    folder = app.errors.parent
    for name in {named, str(folder / named)}:
        model = f"scripted/{name}"
        talk = app.ask("POST", "/api/conversations", {"title": "x"}).json["id"]
        replies = [
            app.ask("POST", "/api/tools/test", {"query": "x", "model": model}),
            app.ask(
                "POST",
                "/v1/chat/completions",
                {"model": model, "messages": [{"role": "user", "content": "x"}]},
            ),
        ]
        for reply in replies:
            assert 400 <= reply.status < 500, reply
            assert b"in the folder of the config" in reply.body
            assert b"secret-line" not in reply.body
        app.ask("POST", f"/api/conversations/{talk}/messages", {"text": "x", "model": model})
        stream = app.opened("GET", f"/api/conversations/{talk}/events")
        lines = iter(stream.readline, b"")
        error = next(line for line in lines if line.startswith(b"data:") and b'"code"' in line)
        assert b"in the folder of the config" in error
        stream.close()


@pytest.mark.long
def test_a_script_beside_the_config_is_used_and_a_broken_one_is_not_quoted(app: WebApp) -> None:
    wanted = {"query": "x", "model": f"scripted/{app.errors.parent}/own/script.yaml"}
    assert app.ask("POST", "/api/tools/test", wanted).json["answer"] == "Hello."
    broken = app.ask("POST", "/api/tools/test", {**wanted, "model": "scripted/broken.yaml"})
    assert broken.status == 422
    assert "is no YAML" in broken.json["detail"] and "line 2" in broken.json["detail"]
    assert "secret" not in broken.json["detail"]


def test_outside_of_that_block_any_file_is_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    with only_in(lambda: [tmp_path / "other"]), pytest.raises(UsageError, match="not to be used here"):
        connect(str(script))
    assert connect(str(script)).name == "scripted"
