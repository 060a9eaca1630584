"""The project's own commands: what the Makefile promises, and what it is pinned to."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from itertools import chain
from typing import Any

import pytest

from tests.support.documents import ROOT

pytestmark = pytest.mark.long

VERBS = ["demo", "test", "lint", "format", "bench", "docs"]


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _recipe(verb: str) -> str:
    done = subprocess.run(
        ["make", "--always-make", "--dry-run", verb], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.requirement("I2.1.2")
def test_the_makefiles_verbs_fit_on_a_screen() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in shown.splitlines() if line.split()[0] in VERBS] == VERBS
    assert len(shown.splitlines()) < 25


@pytest.mark.requirement("I2.1.2", "I2.8.2")
@pytest.mark.parametrize(("verb", "command"), [("demo", "toolspan demo"), ("test", "pytest -n auto")])
def test_the_two_commands_do_all_their_own_set_up(verb: str, command: str) -> None:
    recipe = _recipe(verb)
    assert "-m venv .venv" in recipe
    assert "pip install" in recipe
    assert "-c constraints.txt" in recipe
    assert command in recipe


@pytest.mark.requirement("I2.1.2")
def test_every_dependency_is_pinned_by_name_and_version_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.!+]*", pin)] == []
    pinned = {_normal(pin.partition("==")[0]) for pin in pins}
    project = _project()
    wanted = list(chain(project["dependencies"], *project["optional-dependencies"].values()))
    assert {_normal(re.split(r"[\[<>=,]", each)[0]) for each in wanted} - pinned == set()


@pytest.mark.requirement("I2.1.2")
def test_ci_runs_the_tests_and_the_lint() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "make test" in script
    assert "make lint" in script


@pytest.mark.requirement("I2.8.2")
def test_a_test_is_skipped_only_for_what_is_not_python() -> None:
    """A skip names what it lacks; only Node.js, a user namespace and the like may lack."""
    wanted = (
        "node|inspector|windows|win32|namespace|posix|linux|utf-8 names|postgresql|curl|bubblewrap|chromium"
        "|file system ignores case|which is not Python"
    )
    allowed = re.compile(f"{wanted}|no (bash|zsh|fish|groff)", re.IGNORECASE)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".skip", ".skipif")):
                assert allowed.search(ast.unparse(node)), f"{path.name}: {ast.unparse(node)}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
