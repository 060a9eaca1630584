"""The types of what both packages export are checked where ``make lint`` looks."""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.requirement("I10.5.4")


@pytest.mark.parametrize("package", ["toolspan_server", "toolspan_bridge"])
def test_every_exported_name_is_used_in_the_typing_tests(package: str) -> None:
    used: set[str] = set()
    for path in (ROOT / "typing_tests").glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == package]
        taken = {alias.name for node in imports for alias in node.names}
        used |= taken & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert set(import_module(package).__all__) - used == set()


def test_mypy_and_pyright_check_them_strictly() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert tools["mypy"]["strict"] and "typing_tests" in tools["mypy"]["packages"]
    assert tools["pyright"]["typeCheckingMode"] == "strict" and "typing_tests" in tools["pyright"]["include"]
