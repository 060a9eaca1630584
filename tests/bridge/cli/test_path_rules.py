"""Rules about paths from the command line: of a config, of ``--workspace`` beside one, and asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.workspaces import answers_of, write_files

pytestmark = pytest.mark.requirement("I24.2.2")

CANARY = "CANARY"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, {"work/secrets/key.txt": CANARY, "work/src/a.py": "a = 1\n"})
    (tmp_path / "work/src/link").symlink_to("../secrets/key.txt")
    return tmp_path


def rules(folder: Path, *written: dict[str, object], workspace: bool = False) -> str:
    config: dict[str, object] = {"name": "c", "approvals": {"rules": written}}
    if workspace:
        config["services"] = {"workspaces": {"w": {"path": "work"}}}
        config["tools"] = {"sources": [{"type": "workspace", "workspace": "w"}]}
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    return "c.yaml"


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    "path", ["secrets/key.txt", '"secrets/key.txt"', r'"\x73ecrets/key.txt"', "src/link"]
)
def test_a_denied_file_is_read_by_no_spelling_in_a_workspace_of_the_config_or_beside_it(
    folder: Path, path: str, *, own: bool
) -> None:
    config = rules(folder, {"action": "deny", "paths": ["secrets/**"], "reason": "never"}, workspace=own)
    beside = () if own else ("--workspace", "work")
    ran = toolspan("tools", "call", "Read", f"file_path={path}", "--config", config, *beside,
                   "--approve", "*", cwd=folder)  # fmt: skip
    assert ran.code and CANARY not in ran.out + ran.err
    assert "never" in ran.err
    found = toolspan("tools", "call", "Grep", f"pattern={CANARY}", "--config", config, *beside, cwd=folder)
    assert json.loads(found.out)["files"] == [] and json.loads(found.out)["denied_by_rules"] == 1


def test_another_client_of_the_server_is_denied_the_file_too(folder: Path) -> None:
    config = rules(folder, {"action": "deny", "paths": ["secrets/**"]}, workspace=True)
    params = {"name": "Read", "arguments": {"file_path": '"secrets/key.txt"'}}
    request = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    answer = answers_of(folder, ["--config", config], request)[7]
    assert CANARY not in str(answer) and "denied_by_rule" in str(answer)


def test_an_allow_rule_reaches_nothing_by_a_link_or_a_quote(folder: Path) -> None:
    (folder / 'work/"').symlink_to("src")
    config = rules(folder, {"action": "allow", "tools": ["Write"], "paths": ["src/**"]}, workspace=True)

    def writes(path: str) -> bool:
        given = (f"file_path={path}", "content=x", "force=true")
        return toolspan("tools", "call", "Write", *given, "--config", config, cwd=folder).code == 0

    assert writes("src/new.py") and writes('"src/other.py"')
    assert not writes('"secrets/key.txt"') and not writes("src/link") and not writes('"top.txt"')
    assert (folder / "work/secrets/key.txt").read_text() == CANARY


def test_a_search_over_what_is_to_be_asked_about_is_asked_about(folder: Path) -> None:
    config = rules(folder, {"action": "ask", "paths": ["secrets/**"]}, workspace=True)
    asked = toolspan("tools", "call", "Grep", f"pattern={CANARY}", "--config", config, cwd=folder)
    assert asked.code == 5 and "a rule says so" in asked.err
    aside = toolspan("tools", "call", "Grep", "pattern=a", "path=src", "--config", config, cwd=folder)
    assert aside.code == 0


def test_rules_that_are_no_approvals_are_refused_with_the_option_named(folder: Path) -> None:
    import subprocess

    from tests.support.served import command

    ran = subprocess.run(command("--workspace", "work", "--rules", '{"rules": 1}'), cwd=folder,
                         capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                         check=False)  # fmt: skip
    assert ran.returncode and "--rules" in ran.stderr


def test_a_tool_that_is_no_workspaces_is_held_to_rules_about_paths_by_all_that_it_is_given(
    folder: Path,
) -> None:
    text = {"type": "string"}
    properties = {"path": text, "destination": {**text, "default": "src/copy.py"}}
    copy = {
        "name": "copy",
        "description": "Copy a file.",
        "annotations": {"destructive": True},
        "parameters": {"type": "object", "properties": properties},
        "implementation": {"type": "mock", "mock_response": "copied"},
    }
    deny = {"action": "deny", "paths": ["secrets/**"], "reason": "never"}
    allow = {"action": "allow", "tools": ["copy"], "paths": ["src/**"]}
    config = {"name": "c", "approvals": {"rules": [deny, allow]}, "tools": {"registry": [copy]}}
    (folder / "work/c.yaml").write_text(yaml.safe_dump(config))

    def called(*given: str) -> tuple[int, str]:
        ran = toolspan("tools", "call", "copy", *given, "--config", "c.yaml", cwd=folder / "work")
        return ran.code, ran.err

    assert called("path=src/a.py") == (0, "")
    assert called("path=src/a.py", "destination=src/b.py") == (0, "")
    assert called("path=src/a.py", "destination=top.py")[0] == 5
    for spelling in ("file:secrets/key.txt", "%73ecrets/key.txt", "secret*", '{"x": "secrets/key.txt"}'):
        code, said = called("path=src/a.py", f"destination={spelling}")
        assert code == 5 and "never" in said and "nobody can tell" not in said
    code, said = called("path=src/a.py", "destination=$WHERE/key.txt", "--approve", "*")
    assert code == 5 and "nobody can tell" in said
    properties["destination"]["default"] = "secrets/key.txt"
    (folder / "work/c.yaml").write_text(yaml.safe_dump(config))
    assert "never" in called("path=src/a.py")[1]
