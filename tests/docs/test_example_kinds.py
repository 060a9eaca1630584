"""Each config in ``examples/kinds`` does what the commands in its first comment are there to show."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.cli import Ran, toolspan

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ROOMS = ROOT / "server" / "toolspan_server" / "tools"
KINDS = ROOT / "examples" / "kinds"

EXAMPLES = sorted(path.name for path in KINDS.glob("*.yaml") if path.name != "shop.openapi.yaml")
LEFT_OUT = {"toolsets.yaml": "tool order_cancel"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, where servers may leave their state."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(KINDS, folder / "examples" / "kinds", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    return folder


@pytest.mark.requirement("I4.5.3")
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_commands_in_an_example_show_what_it_is_about(
    name: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    commands = commands_of(KINDS / name)
    assert commands
    for command, shown in commands.items():
        ran = run(command, checkout)
        assert ran.code == 0, ran.err
        assert shown
        assert [part for part in shown if part not in ran.out] == [], ran.out
        assert name not in LEFT_OUT or LEFT_OUT[name] not in ran.out


@pytest.mark.requirement("I4.5.3")
def test_every_kind_and_every_source_has_a_runnable_example() -> None:
    assert rooms("kinds")
    assert rooms("sources")
    written = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in KINDS.glob("*.yaml")}
    for kind in rooms("kinds"):
        tools = written[f"{kind}.yaml"]["tools"]["registry"]
        assert kind in [tool["implementation"]["type"] for tool in tools]
    for source in rooms("sources"):
        assert source in [each["type"] for each in written[f"{source}.yaml"]["tools"]["sources"]]


def commands_of(path: Path) -> dict[str, list[str]]:
    """The commands in the first comment, indented, each with what it shows after an arrow."""
    lines = path.read_text("utf-8").splitlines()
    comment = lines[: next(at for at, line in enumerate(lines) if not line.startswith("#"))]
    found: dict[str, list[str]] = {}
    for line in (line[1:].strip() for line in comment if line.startswith("#   ")):
        if line.startswith("→ "):
            found[list(found)[-1]].append(line.removeprefix("→ "))
        else:
            found[line] = []
    return found


def run(command: str, cwd: Path) -> Ran:
    program, *arguments = shlex.split(command)
    if program == "toolspan":
        return toolspan(*arguments, cwd=cwd)
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def rooms(folder: str) -> list[str]:
    """The modules of ``folder`` that are a kind or a source."""
    return sorted(path.stem for path in (ROOMS / folder).glob("*.py") if not path.name.startswith("_"))
