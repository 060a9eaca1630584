"""The public surface of a module is what its ``__all__`` says, no more and no less."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "toolspan_server": ROOT / "server" / "toolspan_server",
    "toolspan_bridge": ROOT / "bridge" / "toolspan_bridge",
}


def _modules() -> Iterator[tuple[str, Path]]:
    """Every module of both packages that has ``__all__``."""
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            if "__all__" in path.read_text("utf-8") and "__all__" in _bound(_tree(path).body):
                parts = path.relative_to(folder).with_suffix("").parts
                yield ".".join((package, *(part for part in parts if part != "__init__"))), path


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _bound(statements: list[ast.stmt]) -> set[str]:
    """The names that ``statements`` define."""
    names: set[str] = set()
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(statement.name)
            case ast.Assign():
                names |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return names


def _imported(path: Path) -> set[str]:
    """The names that the module takes from our packages; of a lazy one, also those for type checkers."""
    statements = _tree(path).body
    guarded = [inner for each in statements if isinstance(each, ast.If) for inner in each.body]
    if "lazy_exports" in {
        alias.name for each in guarded if isinstance(each, ast.ImportFrom) for alias in each.names
    }:
        statements = [*statements, *guarded]
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and (statement.level or _is_ours(statement.module)):
            found = {alias.asname or alias.name for alias in statement.names}
            names |= found if statement.module else {name for name in found if not _is_module(path, name)}
    return names


def _used(path: Path) -> set[str]:
    return {node.id for node in ast.walk(_tree(path)) if isinstance(node, ast.Name)}


def _is_ours(module: str | None) -> bool:
    return module is not None and module.split(".")[0] in PACKAGES


def _is_module(path: Path, name: str) -> bool:
    return (path.parent / f"{name}.py").exists() or (path.parent / name).is_dir()


def _public(names: set[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as ruff sorts them."""
    constant, of_class = re.fullmatch(r"[A-Z][A-Z0-9_]+", name), name[0].isupper()
    return (0 if constant else 1 if of_class else 2, name)


MODULES = dict(_modules())


def test_both_packages_and_what_they_are_made_of_are_looked_at() -> None:
    assert {*PACKAGES, "toolspan_server.config", "toolspan_bridge.events"} <= MODULES.keys()


@pytest.mark.requirement("I2.1.1", "I10.5.3")
@pytest.mark.parametrize("name", MODULES)
def test_a_module_exports_exactly_its_public_members(name: str) -> None:
    path, exported = MODULES[name], set(import_module(name).__all__)
    defined, imported = _public(_bound(_tree(path).body)), _public(_imported(path))
    assert defined | (imported - _used(path)) <= exported <= defined | imported


@pytest.mark.requirement("I10.5.3")
@pytest.mark.parametrize("name", MODULES)
def test_exported_names_are_sorted_and_there(name: str) -> None:
    module = import_module(name)
    assert list(module.__all__) == sorted(module.__all__, key=_order)
    assert [each for each in module.__all__ if not hasattr(module, each)] == []
