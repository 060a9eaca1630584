"""What is published: the wheel, its metadata, and the image."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import ROOT
from toolspan_server.cli.command_line import parsed

_INSTALLING_S = 900.0


def _run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=_INSTALLING_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, built from the source distribution, as ``python -m build`` does."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--outdir", folder, PIP_CONSTRAINT=str(ROOT / "constraints.txt"))
    return folder


@pytest.mark.long
@pytest.mark.requirement("I13.1.13")
def test_an_index_would_take_the_distributions_and_show_their_readme(dist: Path) -> None:
    shown = _run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir())
    assert shown.count("PASSED") == 2


@pytest.mark.long
@pytest.mark.requirement("I13.1.13")
def test_the_wheel_alone_is_a_program_that_works(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    _run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", constraints, wheel)
    (work := tmp_path / "work").mkdir()
    toolspan = python.with_name("toolspan")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert _run(toolspan, "--version", cwd=work).strip() == f"toolspan, version {version}"
    _run(toolspan, "init", cwd=work)
    assert "1 tool: example (mock)" in _run(toolspan, "check", cwd=work)
    listed = json.loads(_run(python, "-m", "toolspan_bridge", "tools", "list", "--json", cwd=work))
    assert [each["name"] for each in listed["tools"]] == ["example"]
    assert "provisional (n=4, 100 %" in _run(toolspan, "demo", cwd=work)


def _instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


@pytest.mark.requirement("I13.1.14")
def test_the_image_is_made_of_files_that_are_there_and_not_ignored() -> None:
    wanted = {
        source
        for word, rest in _instructions()
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert wanted == kept
    assert all((ROOT / each).exists() for each in wanted)
    build: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = build["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {Path(package).parts[0] for package in packages} <= wanted
    assert {build["project"]["readme"], *build["project"]["license-files"]} <= wanted


@pytest.mark.requirement("I13.1.14")
def test_the_image_runs_a_program_of_ours_without_rights_and_listens_at_no_address() -> None:
    last: dict[str, str] = dict(_instructions())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (program,) = json.loads(last["ENTRYPOINT"])
    assert program in project["scripts"]
    assert f"/opt/{program}/bin" in last["ENV"]
    assert int(last["USER"]) > 0
    assert "EXPOSE" not in last
    verb, *options = json.loads(last["CMD"])
    assert (verb, parsed(options, "toolspan serve").transport) == ("serve", "stdio")
    for word, rest in _instructions():
        if word == "FROM":
            minor = re.match(r"python:3\.(\d+)-slim", rest)
            assert minor and int(minor[1]) >= int(project["requires-python"].rpartition(".")[2])
    assert any(
        '-c constraints.txt ".${EXTRAS:+[$EXTRAS]}"' in rest
        for word, rest in _instructions()
        if word == "RUN"
    )


@pytest.mark.requirement("I13.1.14")
def test_the_documented_way_to_publish_a_port_needs_a_token_and_stays_on_this_machine() -> None:
    page = (ROOT / "docs" / "how-to" / "install-toolspan.md").read_text()
    (line,) = [each for each in page.splitlines() if each.startswith("docker run") and " -p " in each]
    words = shlex.split(line)
    options = parsed(words[words.index("serve") + 1 :], "toolspan serve")
    assert (options.transport, options.host, options.token_env) == ("http", "0.0.0.0", "TOKEN")
    assert words[words.index("-e") + 1] == "TOKEN"
    assert words[words.index("-p") + 1] == f"127.0.0.1:{options.port}:{options.port}"
    for other in (each for each in page.splitlines() if each.startswith("docker run") and each != line):
        assert "--host" not in other and " -p " not in other


@pytest.mark.requirement("I13.1.1")
def test_readme_says_where_the_programs_are_before_it_uses_them() -> None:
    text = (ROOT / "README.md").read_text()
    assert 0 < text.index(". .venv/bin/activate` puts `toolspan` on the path") < text.index("$ toolspan ")
    assert "`python -P -m toolspan_bridge` are the same" in text
    assert "Once it is published" in text
