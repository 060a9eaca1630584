"""What a module registers is read from its source, and nothing of it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_server.engines.registration import (
    declared,
    handler_problem,
    read_handler_source,
    reading_only,
)

pytestmark = pytest.mark.requirement("I9.1.6")

BOOM = "raise SystemExit('it was run')\n"
IMPORT = "from toolspan_server import handler\n"


def read(folder: Path, source: str) -> tuple[set[tuple[str, str]], bool]:
    (folder / "mine.py").write_text(BOOM + source)
    with reading_only():
        read_handler_source("mine.py", folder)
        known = declared()
    assert known is not None
    return known.names, known.is_all


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (IMPORT + "@handler('a')\ndef f(x, y): ...", {("builtin", "a")}),
        (IMPORT + "@handler('a', kind='internal')\nasync def f(x, y): ...", {("internal", "a")}),
        ("from toolspan_server import handler as tool\n@tool('a')\ndef f(x, y): ...", {("builtin", "a")}),
        ("import toolspan_server as t\n@t.handler('a')\ndef f(x, y): ...", {("builtin", "a")}),
        (IMPORT + "handler('a')(print)\nhandler('b')(print)", {("builtin", "a"), ("builtin", "b")}),
        ("def handler(name): ...\nhandler('no')", set()),
    ],
)
def test_names_are_found_however_they_are_registered(
    source: str, names: set[tuple[str, str]], tmp_path: Path
) -> None:
    assert read(tmp_path, source) == (names, True)


@pytest.mark.parametrize(
    "source",
    [
        IMPORT + "for name in 'ab':\n    handler(name)(print)",
        IMPORT + "import numpy",
        IMPORT + "from . import others",
        IMPORT + "exec('handler(1)')",
        IMPORT + "import importlib\nimportlib.import_module('others')",
    ],
)
def test_what_the_text_does_not_show_is_unknown_and_not_denied(source: str, tmp_path: Path) -> None:
    assert read(tmp_path, source)[1] is False
    with reading_only():
        read_handler_source("mine.py", tmp_path)
        assert handler_problem("builtin", "registered_out_of_sight") is None


def test_a_dotted_module_is_found_without_its_packages_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_package").mkdir()
    (tmp_path / "their_package" / "__init__.py").write_text(BOOM)
    (tmp_path / "their_package" / "tools.py").write_text(BOOM + IMPORT + "@handler('a')\ndef f(x, y): ...")
    monkeypatch.syspath_prepend(tmp_path)
    with reading_only():
        read_handler_source("their_package.tools", tmp_path)
        assert handler_problem("builtin", "a") is None
        assert "not found" in (handler_problem("builtin", "another") or "")
        with pytest.raises(ModuleNotFoundError, match=r"'their_package\.gone'"):
            read_handler_source("their_package.gone", tmp_path)


def test_a_file_that_is_not_there_or_no_python_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def (")
    with reading_only():
        with pytest.raises(OSError, match=r"gone\.py"):
            read_handler_source("gone.py", tmp_path)
        with pytest.raises(SyntaxError):
            read_handler_source("wrong.py", tmp_path)
