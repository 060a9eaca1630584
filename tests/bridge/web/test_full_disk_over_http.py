"""The app where the disk of its state is full: what cannot be kept is 507 with why, and is not done."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.background import ANSWERS, TOOLS
from tests.support.disks import tiny_disk
from tests.support.waiting import eventually
from tests.support.web_app import Reply, WebApp, web_app

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.1.87")]

CONFIG = TOOLS + "state_dir: disk/state\nweb: {requests_per_minute: 1000000}\n"
SUITE = {"scenarios": [{"name": "one", "query": "look", "expect": {"calls": [{"tool": "look"}]}}]}


@contextmanager
def _on_a_disk(folder: Path) -> Generator[tuple[WebApp, Path]]:
    """The app with a disk of its own, and that disk as it is seen from outside."""
    disk = folder / "disk"
    disk.mkdir()
    within = tiny_disk(disk, "3m")
    if within is None:
        pytest.skip("there is no mount namespace in which a disk may be mounted")
    (folder / "script.yaml").write_text(json.dumps({"answers": ANSWERS}))
    (folder / "adding.yaml").write_text(json.dumps(SUITE))
    with web_app(folder, config=CONFIG, within=within, XDG_STATE_HOME=str(disk / "home")) as app:
        yield app, Path(f"/proc/{app.process.pid}/root{disk}")
        assert app.errors.read_text().partition("Traceback")[2] == ""


def _fill(disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"), (disk / "filled").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4_096)


def _writes(app: WebApp, folder: Path, talk: str, name: str) -> dict[str, Reply]:
    """Everything that keeps something, each called ``name`` where it has a name."""
    model = f"scripted/{folder / 'script.yaml'}"
    call: dict[str, Any] = {"name": "look", "arguments": {}}
    asked: dict[str, tuple[str, str, Any]] = {
        "preset": ("POST", "/api/presets", {"name": name, "enabled_tools": ["look"]}),
        "changed": ("PUT", "/api/presets/first", {"instructions": name * 2_000}),
        "conversation": ("POST", "/api/conversations", {"model": model, "system": name * 20_000}),
        "details": ("PATCH", f"/api/conversations/{talk}", {"system": name * 20_000}),
        "fork": ("POST", f"/api/conversations/{talk}/fork", {}),
        "outcome": ("POST", "/api/tools/validate", {"model": "scripted/m", "success": True}),
    }
    found = {what: app.ask(method, path, body) for what, (method, path, body) in asked.items()}
    return found | {"keyed": app.ask("POST", "/api/tools/call", call, Idempotency_Key=f"key-{name}")}


def test_what_cannot_be_kept_is_507_and_what_was_kept_stays(tmp_path: Path) -> None:
    with _on_a_disk(tmp_path) as (app, disk):
        made = app.ask("POST", "/api/conversations", {"model": f"scripted/{tmp_path / 'script.yaml'}"})
        talk = made.json["id"]
        assert app.ask("POST", "/api/presets", {"name": "first", "enabled_tools": ["look"]}).status == 201
        before = {what: reply.status for what, reply in _writes(app, tmp_path, talk, "a").items()}
        assert set(before.values()) <= {200, 201}

        _fill(disk)
        refused = _writes(app, tmp_path, talk, "b")
        assert {what: reply.status for what, reply in refused.items()} == dict.fromkeys(before, 507)
        assert {reply.json["code"] for reply in refused.values()} == {"store"}
        assert all(
            "No space left" in reply.json["detail"] or "full" in reply.json["detail"]
            for reply in refused.values()
        )
        run = app.ask("POST", "/api/validation/runs", {"suites": ["adding"], "models": ["offline/keyword"]})
        place = f"/api/validation/runs/{run.json['id']}"
        assert eventually(lambda: app.ask("GET", place).json["state"] == "failed")
        assert "the disk is full" in app.ask("GET", place).json["problem"]
        for path in ("/api/presets", "/api/conversations", "/api/validation/matrix", "/api/health"):
            assert app.ask("GET", path).status == 200
        assert app.ask("POST", "/api/tools/call", {"name": "look"}).json["success"]

        (disk / "filled").unlink()
        after = _writes(app, tmp_path, talk, "c")
        assert {what: reply.status for what, reply in after.items()} == before
        names = [each["name"] for each in app.ask("GET", "/api/presets").json["presets"]]
        assert names == ["first", "a", "c"]
        assert "idempotent-replayed" in _writes(app, tmp_path, talk, "a")["keyed"].headers
