"""``toolspan demo``: what a newcomer sees first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan, toolspan_process
from tests.support.terminal import Terminal
from tests.support.waiting import BOUND_S
from toolspan_bridge.cli.demo_folder import DemoFolder

_BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    folder = tmp_path_factory.mktemp("demo")
    return toolspan_process("demo", cwd=folder), folder


@pytest.mark.requirement("I2.8.1", "I2.8.5")
def test_the_demo_does_the_whole_job(shown: tuple[Ran, Path]) -> None:
    ran, _ = shown
    assert ran.code == 0, ran.err
    for wire in ("openai", "ollama", "gemini", "bedrock"):
        assert wire in ran.out
    assert "→ calculate(expression=45 * 15 / 100)" in ran.out
    assert '{"result": 6.75}' in ran.out
    assert "4/4" in ran.out


@pytest.mark.requirement("I2.8.1", "I2.7.2")
def test_the_demo_names_the_file_that_it_wrote(shown: tuple[Ran, Path]) -> None:
    ran, folder = shown
    [line] = [line for line in ran.out.splitlines() if line.startswith("records: ")]
    path = folder / line.removeprefix("records: ")
    [record] = json.loads(path.read_text())
    assert record["model_id"] == "offline/keyword"
    assert record["validated"] is True


@pytest.mark.requirement("I2.8.1", "I13.1.1")
@pytest.mark.parametrize("on_path", [pytest.param(True, marks=pytest.mark.long), False])
def test_the_demo_runs_again_over_what_it_left_and_what_it_prints_next_runs_as_printed(
    shown: tuple[Ran, Path], on_path: bool
) -> None:
    _, folder = shown
    path = os.pathsep.join([*([str(_BIN)] if on_path else []), os.defpath])
    again = subprocess.run(
        [str(_BIN / "toolspan"), "demo"], cwd=folder, env={**os.environ, "PATH": path}, text=True,
        capture_output=True, timeout=BOUND_S, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert "provisional (n=" in again.stdout
    *_, chat, serve = again.stdout.strip().splitlines()
    assert (chat.split()[0] == "toolspan") == on_path
    for line, typed in ((chat, "/quit\n"), (serve, '{"jsonrpc":"2.0","id":1,"method":"ping"}\n')):
        followed = subprocess.run(
            ["sh", "-c", line], cwd=folder, env={**os.environ, "PATH": path}, input=typed, text=True,
            capture_output=True, timeout=BOUND_S, check=False,
        )  # fmt: skip
        assert followed.returncode == 0, followed.stderr


@pytest.mark.requirement("I13.1.1")
def test_a_file_that_was_edited_stays_and_another_folder_is_offered(tmp_path: Path) -> None:
    folder = tmp_path / "toolspan-demo"
    DemoFolder(folder).write()
    config = folder / "toolspan.yaml"
    config.write_text(mine := config.read_text() + "# mine\n")
    refused = toolspan("demo", cwd=tmp_path)
    assert (refused.code, config.read_text()) == (2, mine)
    assert "toolspan-demo was edited (toolspan.yaml), so nothing was written" in refused.err
    assert refused.err.strip().endswith("demo --dir toolspan-demo-2")


@pytest.mark.long
@pytest.mark.requirement("I13.1.1")
def test_at_a_terminal_the_other_folder_is_one_key_away(tmp_path: Path) -> None:
    folder = tmp_path / "toolspan-demo"
    DemoFolder(folder).write()
    (folder / "toolspan.yaml").write_text("mine")
    with Terminal("demo", cwd=tmp_path) as terminal:
        terminal.until("toolspan-demo-2 instead? [y/N]")
        terminal.type("y\n")
        terminal.until("chat --config toolspan-demo-2/toolspan.yaml")
        assert terminal.ended() == 0
    assert (folder / "toolspan.yaml").read_text() == "mine"


@pytest.mark.requirement("I13.1.1")
def test_what_an_earlier_version_wrote_is_replaced_and_what_it_did_not_write_is_not(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path / "demo")
    folder.write()
    stale = tmp_path / "demo" / "toolspan.yaml"
    now = stale.read_text()
    stale.write_text("version: 1\n")
    assert folder.edited() == ["toolspan.yaml"]
    hashes = tmp_path / "demo" / ".toolspan" / "demo.json"
    known = json.loads(hashes.read_text())
    hashes.write_text(json.dumps({**known, "toolspan.yaml": sha256(b"version: 1\n").hexdigest()}))
    assert folder.edited() == []
    folder.write()
    assert stale.read_text() == now
    hashes.unlink()
    stale.write_text("somebody's own")
    assert folder.edited() == ["toolspan.yaml"]


@pytest.mark.requirement("I13.1.1")
def test_a_folder_that_cannot_be_made_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = toolspan("demo", "--dir", "file", cwd=tmp_path)
    assert (ran.code, "--dir" in ran.err, "Traceback" in ran.err) == (2, True, False)
