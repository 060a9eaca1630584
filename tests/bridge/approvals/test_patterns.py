"""Patterns over calls: what allows covers all of a call, what denies needs to touch it only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolspan_bridge.approvals import CallFiles, Pattern

pytestmark = pytest.mark.requirement("I12.1.3")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "outside").symlink_to("/etc")
    return tmp_path


def covers(base: Path, called_with: dict[str, Any], **given: Any) -> bool:
    return Pattern(**given).covers("files", "Write", called_with, CallFiles(base))


def touches(base: Path, called_with: dict[str, Any], **given: Any) -> bool:
    return Pattern(**given).touches("files", "Write", called_with, CallFiles(base))


@pytest.mark.parametrize("glob", ["Write", "W*", "files/*", "files/Write", "*"])
def test_a_tool_is_named_with_and_without_its_server(glob: str, base: Path) -> None:
    assert covers(base, {}, tools=[glob])


@pytest.mark.parametrize("glob", ["write", "other/*", "Writ", "files"])
def test_another_tool_is_not_meant(glob: str, base: Path) -> None:
    assert not covers(base, {}, tools=[glob])


def test_a_server_is_named_by_a_glob(base: Path) -> None:
    assert covers(base, {}, servers=["fi*"]) and not covers(base, {}, servers=["git"])


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("src/a.py", True),
        ("src/deep/er/a.py", True),
        ("./src/../src/a.py", True),
        ("a.py", False),
        ("src/../a.py", False),
        ("../src/a.py", False),
        ("outside/passwd", False),
        ("src/\0.py", False),
    ],
)
def test_a_path_lies_in_a_folder_once_its_links_and_dots_are_followed(
    path: str, inside: bool, base: Path
) -> None:
    assert covers(base, {"file_path": path}, paths=["src/**"]) is inside
    if "\0" not in path:
        assert covers(base, {"file_path": str(base / path)}, paths=["src/**"]) is inside


def test_one_star_stays_in_its_folder_and_an_absolute_glob_is_of_absolute_paths(base: Path) -> None:
    assert covers(base, {"path": "src/a.py"}, paths=["src/*.py"])
    assert not covers(base, {"path": "src/deep/a.py"}, paths=["src/*.py"])
    assert covers(base, {"path": "outside/passwd"}, paths=["/etc/*"])


def test_a_link_that_leaves_the_folder_leaves_the_pattern(base: Path) -> None:
    assert not covers(base, {"path": "outside/passwd"}, paths=["**"])


def test_every_path_has_to_lie_inside_to_be_allowed_and_one_is_enough_to_be_denied(base: Path) -> None:
    both = {"file_path": "src/a.py", "path": "b.py"}
    assert not covers(base, both, paths=["src/**"])
    assert touches(base, both, paths=["src/**"])
    assert not covers(base, {"other": "src/a.py"}, paths=["**"])


@pytest.mark.parametrize(
    "command",
    ["git log; rm -rf .", "git log && rm x", "git log | sh", "git $(rm x)", "git `rm x`", "git log\nrm x",
     "git log > x", "git log \\\n rm"],
)  # fmt: skip
def test_a_star_in_a_command_covers_no_second_command(command: str, base: Path) -> None:
    assert not covers(base, {"command": command}, arguments={"command": "git *"})
    assert touches(base, {"command": command}, arguments={"command": "git *"})
    assert covers(base, {"command": command}, arguments={"command": command}), "exactly that text is meant"


def test_an_argument_is_matched_whole_by_a_glob_and_anywhere_by_re2(base: Path) -> None:
    arguments = {"command": "git log -3", "count": 12}
    assert covers(base, arguments, arguments={"command": "git log*"})
    assert not covers(base, arguments, arguments={"command": "log*"})
    assert covers(base, arguments, arguments={"command": "re:log"})
    assert covers(base, arguments, arguments={"count": "1?"})
    assert not covers(base, arguments, arguments={"absent": "*"})


def test_characters_of_other_syntaxes_are_themselves_in_a_glob(base: Path) -> None:
    assert covers(base, {"text": "a.[b] (c)+é"}, arguments={"text": "a.[b] (*)+é"})
    assert not covers(base, {"text": "axb"}, arguments={"text": "a.b"})
