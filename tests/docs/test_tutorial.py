"""The tutorial leads somewhere from nothing: a copy of the source and Python."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.one_file_each.copied_tree import CopiedTree
from tests.support.documents import ROOT, Reader, blocks


@pytest.mark.long
@pytest.mark.requirement("I13.5.6")
def test_the_tutorial_is_followed_word_for_word_where_nothing_is_installed(tmp_path: Path) -> None:
    source = CopiedTree.at(tmp_path / "toolspan").root
    (home := tmp_path / "home").mkdir()
    reader = Reader(source, shell=True, stand_ins={})
    reader.environment |= {
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        "PATH": os.pathsep.join([str(Path(sys.base_prefix) / "bin"), os.defpath]),
        "HOME": str(home),
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
    }
    for block in blocks(ROOT / "docs" / "tutorials" / "tool-in-your-ide.md"):
        reader.follow(block)
    entry = json.loads((home / "bookshop" / ".vscode" / "mcp.json").read_text())["servers"]["bookshop"]
    assert Path(entry["command"]) == source / ".venv" / "bin" / "toolspan-server"
