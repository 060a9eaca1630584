"""Each third-party module that either half imports comes from a dependency that pyproject.toml declares."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = [pytest.mark.long, pytest.mark.requirement("I10.4.4")]
ROOT = Path(__file__).parents[1]
OWN = {"toolspan_server", "toolspan_bridge"}
TYPES_ONLY = {"_typeshed"}
"""What type checkers bring themselves."""
IMPORTERS = {"import_module", "__import__", "find_spec"}


class Import(NamedTuple):
    """Where a top-level module is imported; ``lazily``: inside a function, or for types only."""

    module: str
    place: str
    lazily: bool


def imports_of(path: Path, text: str) -> Iterator[Import]:
    """The third-party imports of a module, those by name with ``import_module`` counted."""

    def walk(node: ast.AST, lazily: bool) -> Iterator[tuple[str, int, bool]]:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, node.lineno, lazily) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module, node.lineno, lazily
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(module)), *_]) if (
                name in IMPORTERS
            ):
                yield module, node.lineno, lazily
            case ast.Call(args=[ast.Name(id=name), ast.Constant(value=str(module)), *_]) if name in IMPORTERS:
                yield module, node.lineno, lazily
            case _:
                pass
        inside = lazily or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    for name, line, lazily in walk(ast.parse(text), False):
        module = name.partition(".")[0]
        if module and module not in OWN | sys.stdlib_module_names | TYPES_ONLY:
            yield Import(module, f"{path}:{line}", lazily)


def declared(requirements: list[str]) -> set[str]:
    """The distributions that ``requirements`` name, and those that the extras they ask for bring."""
    found: set[str] = set()
    for requirement in map(Requirement, requirements):
        found.add(canonicalize_name(requirement.name))
        for text in requires(requirement.name) or ():
            brought = Requirement(text)
            marker = brought.marker
            if (
                marker
                and any(marker.evaluate({"extra": extra}) for extra in requirement.extras)
                and "extra" in str(marker)
            ):
                found.add(canonicalize_name(brought.name))
    return found


def undeclared(imports: Iterator[Import]) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    always = declared(project["dependencies"])
    optional = {
        name: declared(texts) for name, texts in project["optional-dependencies"].items() if name != "dev"
    }
    extras = set[str]().union(*optional.values())
    distributions = packages_distributions()
    faults: list[str] = []
    for module, place, lazily in imports:
        known = {canonicalize_name(name) for name in distributions.get(module, ())}
        if not known & (always | extras if lazily else always):
            faults.append(f"{place} imports {module!r} of {sorted(known) or 'nothing that is installed'}")
    return faults


def modules() -> Iterator[Import]:
    for half in ("server", "bridge"):
        for path in sorted((ROOT / half).rglob("*.py")):
            yield from imports_of(path.relative_to(ROOT), path.read_text(encoding="utf-8"))


def test_every_import_belongs_to_a_declared_dependency() -> None:
    assert undeclared(modules()) == []


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import yaml, hypothesis.strategies", "hypothesis"),
        ("def f():\n    from hypothesis import given", "hypothesis"),
        ("from importlib import import_module\nimport_module('hypothesis')", "hypothesis"),
        ("import botocore.session", "botocore"),
    ],
)
def test_an_import_of_something_else_is_found_and_an_extra_only_lazily_allowed(
    text: str, module: str
) -> None:
    faults = undeclared(imports_of(Path("module.py"), text))
    assert len(faults) == 1
    assert f"imports {module!r}" in faults[0]
    assert undeclared(imports_of(Path("module.py"), "def f():\n    import botocore.session, re2, yaml")) == []


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [
        *project["dependencies"],
        *(text for texts in project["optional-dependencies"].values() for text in texts),
    ]
    pinned = {
        canonicalize_name(re.split("==", line)[0]): line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    for requirement in map(Requirement, texts):
        line = pinned.get(canonicalize_name(requirement.name), "")
        assert requirement.specifier.contains(line.partition("==")[2], prereleases=True), requirement
