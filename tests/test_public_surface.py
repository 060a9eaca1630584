"""What a program needs of either package, it imports from the package itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.documents import ROOT, blocks

PACKAGES = {"toolspan_server": "server", "toolspan_bridge": "bridge"}
LAZY = {"toolspan_server", "toolspan_server.common", "toolspan_server.common.lazy_exports"}
"""What gives each package its names when they are asked for."""
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

pytestmark = pytest.mark.requirement("I10.5.1")


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_imports_nothing_of_what_it_names(package: str) -> None:
    known = "import sys, typing, importlib, __future__; known = {*sys.modules}"
    printed = _run("-c", f"{known}; import {package}; print(*sorted({{*sys.modules}} - known))")
    assert {*printed.split()} == {package, *LAZY}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_is_listed_and_an_unknown_one_is_an_attribute_error(package: str) -> None:
    module = import_module(package)
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_takes_the_place_of_a_name_when_it_is_imported(package: str) -> None:
    folder = ROOT / PACKAGES[package] / package
    inside = {path.stem for path in folder.iterdir()}
    assert inside.isdisjoint(import_module(package).__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_running_the_package_as_a_module_is_its_command(package: str) -> None:
    assert "usage:" in _run("-m", package, "--help").lower()


@pytest.mark.parametrize("package", PACKAGES)
def test_what_runs_the_command_can_be_imported_without_running_it(package: str) -> None:
    import_module(f"{package}.__main__")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_needs_public_names_only(path: Path) -> None:
    assert _private(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_needs_public_names_only(path: Path) -> None:
    assert [
        each for block in blocks(path) if block.language == "python" for each in _private(block.text)
    ] == []


def _run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def _private(source: str) -> list[str]:
    """What ``source`` imports of the packages otherwise than by a name that they export."""
    return [f"{module}.{name}" for module, name in _imports(source) if not _is_public(module, name)]


def _imports(source: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] in PACKAGES)


def _is_public(module: str, name: str) -> bool:
    return module in PACKAGES and (not name or name in import_module(module).__all__)
