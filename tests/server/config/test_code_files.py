"""Trust is bound to contents: to all code that a command line leads to, and to all settings."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.server.config.test_restricted import EVERYTHING, leaves, put
from toolspan_server.config import load_config
from toolspan_server.config.code_files import MOST_FILES, imported_files, program_files
from toolspan_server.config.models.sent_variable import UntrustedItem
from toolspan_server.errors import ConfigError

pytestmark = pytest.mark.requirement("I24.1.2")

PACKAGE = {"scripts": {"start": "node src/main.js"}, "bin": {"tool": "bin/tool.mjs"}}
PROJECT = '[project]\nname = "own"\n[project.scripts]\nown-server = "own.app:main"\n'
FILES = {
    "server.py": "import helper\n",
    "helper.py": "from pathlib import Path\n",
    "own/__init__.py": "",
    "own/__main__.py": "from . import app\n",
    "own/app.py": "import helper\n",
    "src/laid_out.py": "",
    "src/main.js": "const x = require('./lib/deep');\n",
    "src/lib/deep.js": "import './deeper.mjs'\n",
    "src/lib/deeper.mjs": "",
    "bin/tool.mjs": "import '../src/lib/deep.js'\n",
    "run.sh": "exec python server.py\n",
    "package.json": json.dumps(PACKAGE),
    "pyproject.toml": PROJECT,
    "uv.lock": "",
    "Makefile": "start:\n\tpython server.py\n",
    "node_modules/.bin/linked": "require('../linked/index.js')\n",
    "node_modules/linked/index.js": "",
    "notes.txt": "words",
}
LED_TO: list[tuple[list[str], str]] = [
    (["python3", "-m", "server"], "server.py"),
    (["python3", "-m", "server"], "helper.py"),
    (["python3", "-m", "own"], "own/__main__.py"),
    (["python3", "-m", "own.app"], "own/app.py"),
    (["python3", "-m", "own.app"], "helper.py"),
    (["python", "-m", "laid_out"], "src/laid_out.py"),
    (["uvicorn", "own.app:app"], "own/app.py"),
    (["uvx", "--from", ".", "own-server"], "own/app.py"),
    (["uv", "run", "server.py"], "helper.py"),
    (["uv", "run", "own-server"], "own/app.py"),
    (["uv", "run", "own-server"], "pyproject.toml"),
    (["uv", "run", "own-server"], "uv.lock"),
    (["node", "src/main.js"], "src/lib/deep.js"),
    (["node", "src/main.js"], "src/lib/deeper.mjs"),
    (["node", "--import=./src/lib/deeper.mjs", "x"], "src/lib/deeper.mjs"),
    (["node", "."], "src/main.js"),
    (["npm", "start"], "src/main.js"),
    (["npm", "run", "start"], "package.json"),
    (["npx", "tool"], "bin/tool.mjs"),
    (["npx", "./src"], "src/lib/deep.js"),
    (["npx", "linked"], "node_modules/.bin/linked"),
    (["npx", "linked"], "node_modules/linked/index.js"),
    (["sh", "./run.sh"], "server.py"),
    (["./run.sh"], "run.sh"),
    (["bash", "-c", "cd . && node src/main.js"], "src/main.js"),
    (["make", "start"], "server.py"),
    (["python", "server.py", "--config=notes.txt"], "notes.txt"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("words", "file"), LED_TO, ids=lambda part: str(part))
def test_a_change_of_code_that_a_command_line_leads_to_is_seen(
    words: list[str], file: str, project: Path
) -> None:
    before = program_files(words, project)
    assert program_files(words, project) == before
    with (project / file).open("a") as changed:
        changed.write("\n# another\n")
    after = program_files(words, project)
    assert {name for name in after if before.get(name) != after[name]} == {f"file {file}"}


def test_code_is_found_from_the_folder_that_the_server_is_started_in(project: Path) -> None:
    found = program_files(["node", "main.js"], project, "src")
    assert {"file src/main.js", "file src/lib/deep.js"} <= set(found)


def test_a_folder_of_modules_that_a_variable_names_counts(project: Path) -> None:
    assert "file src/laid_out.py" in program_files(["python"], project, values=["/nowhere:src"])


def test_the_project_as_what_a_program_works_on_is_no_code(project: Path) -> None:
    assert program_files(["files-server", "--root", "."], project) == {}


def test_a_folder_too_large_to_compare_is_another_one_each_time(project: Path) -> None:
    (project / "big").mkdir()
    for number in range(MOST_FILES + 1):
        (project / "big" / f"{number}.js").touch()
    first, second = program_files(["node", "big"], project), program_files(["node", "big"], project)
    assert first != second and any("asked about each time" in name for name in first)


def test_files_that_code_writes_do_not_count(project: Path) -> None:
    path = project / "writer.py"
    path.write_text("open('state.json', 'w')\n")
    before = imported_files(path, path.read_bytes())
    (project / "state.json").write_text("{}")
    assert imported_files(path, path.read_bytes()) == before


def items(folder: Path, document: Any) -> dict[tuple[str, str], UntrustedItem]:
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(document))
    found = load_config(folder / "toolspan.yaml", restricted=True).withheld
    return {(item.place, item.what): item for item in found}


ACTING = [
    path
    for path in leaves(EVERYTHING)
    if not {"description", "title", "instructions", "examples", "$schema", "tags", "icons"} & set(path)
    and path[:3] not in {("tools", "registry", index) for index in range(8)}
]


def another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value - 1 if value > 1 else value + 1
    return f"{value}x"


@pytest.mark.long
def test_any_other_setting_of_a_trusted_config_is_another_one(tmp_path: Path) -> None:
    """Also one that is inert by itself: beside what is trusted it may matter."""
    (tmp_path / "theirs.py").write_text(
        "from toolspan_server import handler\n\n@handler('theirs_restricted')\ndef f(a, c): ...\n"
    )
    (tmp_path / "api.json").write_text("{}")
    before = items(tmp_path, EVERYTHING)
    assert items(tmp_path, EVERYTHING) == before
    tried = 0
    for path in ACTING:
        try:
            after = items(tmp_path, put(EVERYTHING, path, another))
        except ConfigError:
            continue
        tried += 1
        assert after != before, path
        assert any(before.get(key) != item for key, item in after.items()), path
    assert tried > 60


def test_a_rule_that_denies_and_is_taken_away_is_another_config(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "approvals": {"rules": [{"action": "deny", "paths": ["secrets/**"]}]},
        "mcpServers": {"x": {"command": "x"}},
    }
    before = items(tmp_path, document)
    changed = deepcopy(document)
    changed["approvals"]["rules"][0]["paths"] = ["nothing"]
    assert items(tmp_path, changed) != before
