"""The example of a GitHub workflow: what can be checked of it here, and each of its commands, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.documents import ROOT, blocks

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.5.14")]

WORKFLOW = ROOT / "examples" / "github_action" / "validate-tools.yml"
KNOWN = ROOT / "examples" / "scripted_models"
INSTALL = "python -m pip install toolspan"
CONDITIONS: Mapping[str, Callable[[Path, bool], bool]] = {
    "": lambda folder, is_main: True,
    "${{ hashFiles('baseline.json') != '' }}": lambda folder, is_main: (folder / "baseline.json").exists(),
    "${{ github.ref == 'refs/heads/main' }}": lambda folder, is_main: is_main,
}
"""What the steps depend on; another condition is unknown here and fails."""


def job() -> Any:
    whole = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    assert set(whole) == {"name", True, "permissions", "jobs"}, "YAML 1.1 reads `on` as true"
    assert set(whole[True]) == {"pull_request", "push"}
    (only,) = whole["jobs"].values()
    return only


@dataclass(frozen=True)
class Done:
    """How a job ended: the exit code of each command by its step's name."""

    codes: Mapping[str, int]
    summary: str


def run(folder: Path, *, model: str, is_main: bool = False) -> Done:
    """The job's commands in ``folder`` as a runner does them: bash with -e, until one fails."""
    summary = folder / "summary.md"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {"PATH": path, "HOME": str(folder), "MODEL": model, "GITHUB_STEP_SUMMARY": str(summary)}
    codes: dict[str, int] = {}
    for step in job()["steps"]:
        command = step.get("run", "")
        if not command or command == INSTALL or not CONDITIONS[step.get("if", "")](folder, is_main):
            continue
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=folder,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        codes[step["name"]] = done.returncode
        if done.returncode and not step.get("continue-on-error"):
            break
    return Done(codes, summary.read_text("utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("toolspan.yaml", "suite.yaml"):
        shutil.copy(KNOWN / name, tmp_path)
    return tmp_path


def test_it_takes_no_text_of_a_pull_request_into_a_shell_and_may_only_read() -> None:
    whole = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    assert whole["permissions"] == {"contents": "read"}
    steps = job()["steps"]
    assert not [step for step in steps if "${{" in step.get("run", "")]
    assert all(re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    assert job()["timeout-minutes"] <= 60


def test_the_documentation_shows_it_as_it_is() -> None:
    shown = blocks(ROOT / "docs" / "how-to" / "reports.md")
    (workflow,) = (block.text for block in shown if block.title.startswith(".github/"))
    assert workflow == WORKFLOW.read_text("utf-8")


def test_what_it_installs_is_this_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert [step["run"] for step in job()["steps"] if step.get("name") == "Install"] == [INSTALL]
    assert INSTALL.endswith(f" {project['name']}")


def test_without_a_model_the_offline_baseline_is_asked_and_everything_is_written(folder: Path) -> None:
    assert "|| 'offline/keyword' }}" in job()["env"]["MODEL"]
    done = run(folder, model="offline/keyword", is_main=True)
    assert set(done.codes) == {
        "Ask the model",
        "Write the reports",
        "Refuse a rate below 80 %",
        "Take this report as the baseline",
    }
    assert set(done.codes.values()) == {0}
    assert done.summary.startswith("## Validation of models")
    (kept,) = (step["with"]["path"].split() for step in job()["steps"] if "upload" in step.get("uses", ""))
    assert all((folder / name).stat().st_size for name in [*kept, "baseline.json"])


def test_a_pull_request_that_makes_a_model_worse_is_refused_after_its_reports(folder: Path) -> None:
    shutil.copy(KNOWN / "perfect.yaml", folder / "model.yaml")
    assert set(run(folder, model="scripted/model.yaml", is_main=True).codes.values()) == {0}
    same = run(folder, model="scripted/model.yaml")
    assert same.codes["Refuse what is worse than on the main branch"] == 0
    shutil.rmtree(folder / ".toolspan")
    (folder / "summary.md").unlink()
    shutil.copy(KNOWN / "flaky.yaml", folder / "model.yaml")
    worse = run(folder, model="scripted/model.yaml")
    assert worse.codes == {
        "Ask the model": 0,
        "Write the reports": 0,
        "Refuse a rate below 80 %": 0,
        "Refuse what is worse than on the main branch": 6,
    }
    assert "provisional (n=60, 80 %" in worse.summary
    shutil.rmtree(folder / ".toolspan")
    shutil.copy(KNOWN / "never_calls.yaml", folder / "model.yaml")
    failed = run(folder, model="scripted/model.yaml")
    assert failed.codes == {"Ask the model": 6, "Write the reports": 0, "Refuse a rate below 80 %": 6}
