"""A text that is checked as a config says nothing about files outside of the config's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolspan_server.config import check_text

pytestmark = pytest.mark.requirement("I24.6.7")
TOOL = "tools: {registry: [{name: t, description: d, implementation: {type: builtin, handler: mine}}]}"


def said(folder: Path, source: str) -> list[str]:
    """The problems of a config in ``folder`` whose handlers are in ``source``."""
    text = f"handlers: ['{source}']\n{TOOL}\nhooks: [{{point: before_call, python: '{source}:f'}}]"
    return [problem.message for problem in check_text(text, folder / "toolspan.yaml", {})]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"good": "x = 1", "broken": "secret = = 1", "locked": "x = 1"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "locked.py").chmod(0)
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "circle.py").symlink_to("circle.py")
    inside = tmp_path / "project"
    inside.mkdir()
    return inside


OUTSIDE = ["good", "broken", "locked", "folder", "pipe", "circle", "missing"]


def test_a_file_outside_is_the_same_whether_it_is_there_or_not(folder: Path) -> None:
    answers = set()
    for name in OUTSIDE:
        (folder / f"{name}.py").symlink_to(folder.parent / f"{name}.py")
        by_link, by_path = f"{name}.py", f"../{name}.py"
        whole, through = str(folder.parent / f"{name}.py"), f"{name}/../../{name}.py"
        answers |= {tuple(said(folder, each)) for each in (by_link, by_path, whole, through)}
    answers |= {tuple(said(folder, module)) for module in ("sqlalchemy", "no_such_module", "os.path")}
    assert len(answers) == 1, answers


def test_a_file_of_the_folder_is_read(folder: Path) -> None:
    (folder / "bad.py").write_text("a = = 1")
    (folder / "fine.py").write_text("a = 1")
    assert any("cannot be imported" in each for each in said(folder, "bad.py"))
    assert any("cannot be imported" in each for each in said(folder, "none.py"))
    assert any("'mine' not found" in each for each in said(folder, "fine.py"))
