"""What ``toolspan check`` says of hooks, without running any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import Ran, toolspan

pytestmark = pytest.mark.requirement("I12.5.58")

GUARD = "from helpers import borrowed\n\nopen('ran', 'w')\n\ndef check(given):\n    return None\n"
TOOL = {
    "name": "weather",
    "description": "The weather.",
    "implementation": {"type": "mock", "mock_response": 1},
}


def checked(folder: Path, *hooks: dict[str, Any], trust: bool = False) -> Ran:
    (folder / "guard.py").write_text(GUARD)
    (folder / "broken.py").write_text("def check(:\n")
    entries = [{"point": "before_call", **hook} for hook in hooks]
    config = {"hooks": entries, "tools": {"registry": [TOOL]}, "mcpServers": {"files": {"command": "files"}}}
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(config))
    return toolspan("check", *(["--trust"] if trust else []), cwd=folder)


@pytest.mark.parametrize(
    ("hook", "fault"),
    [
        ({"python": "gard.py:check"}, "$.hooks[0].python: gard.py cannot be read: No such file"),
        ({"python": "guard.py:chek"}, "$.hooks[0].python: guard.py has no 'chek' (did you mean 'check'?)"),
        ({"python": "broken.py:check"}, "$.hooks[0].python: broken.py is no Python: "),
        (
            {"tool": "toolspan/wether"},
            "$.hooks[0].tool: toolspan has no tool 'wether' (did you mean 'weather'?)",
        ),
        ({"tool": "file/look"}, "$.hooks[0].tool: there is no server 'file' (did you mean 'files'?)"),
    ],
    ids=str,
)
def test_a_hook_that_can_never_run_is_an_error_with_its_place(
    hook: dict[str, str], fault: str, tmp_path: Path
) -> None:
    ran = checked(tmp_path, hook)
    assert ran.code == 2 and fault in ran.err


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    ran = checked(tmp_path, {"python": "gard.py:check"}, {"tool": "toolspan/weather"}, {"tool": "no/where"})
    assert "$.hooks[0]" in ran.err and "$.hooks[1]" not in ran.err and "$.hooks[2]" in ran.err


@pytest.mark.parametrize("name", ["check", "borrowed"])
def test_a_sound_hook_is_read_and_not_run(name: str, tmp_path: Path) -> None:
    ran = checked(tmp_path, {"python": f"guard.py:{name}"}, {"tool": "files/whatever"})
    assert ran.code == 0, ran.err
    assert not (tmp_path / "ran").exists()


def test_with_trust_it_is_run_and_its_error_told(tmp_path: Path) -> None:
    ran = checked(tmp_path, {"python": "guard.py:check"}, trust=True)
    assert ran.code == 2 and "ModuleNotFoundError: No module named 'helpers'" in ran.err
