"""Find every regular expression of ``re`` in the code of the packages, with how each is used."""

from __future__ import annotations

import ast
import dataclasses
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

from tests.support.backtracking import Use

_CALLS: dict[str, Use] = {
    "compile": "search",
    "search": "search",
    "match": "match",
    "fullmatch": "fullmatch",
    "sub": "search",
    "subn": "search",
    "split": "search",
    "findall": "search",
    "finditer": "search",
}
_METHODS = _CALLS.keys() - {"compile"}
_AT_REST = frozenset(("pattern", "flags", "groups", "groupindex"))


class Found(NamedTuple):
    """One pattern: where it stands, as ``module:name`` or ``module:text``, and its text, None if made at
    run time."""

    name: str
    pattern: str | bytes | None
    flags: int
    uses: frozenset[Use]


def find_patterns(*packages: str) -> list[Found]:
    """Every call of ``re`` in the modules of ``packages``, imported to know what its arguments are."""
    modules = [module for package in packages for module in _modules(package)]
    uses = _Uses(modules)
    return [found for module in modules for found in _in_module(module, uses)]


def _modules(package: str) -> Iterator[ModuleType]:
    root = import_module(package)
    yield root
    for each in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not each.name.endswith("__main__"):
            yield import_module(each.name)


class _Uses:
    """What is done with each name of a compiled pattern, in the module that makes it and in those that
    import it."""

    def __init__(self, modules: list[ModuleType]) -> None:
        self.trees = {
            module.__name__: ast.parse(Path(str(module.__file__)).read_text()) for module in modules
        }
        self._uses: dict[int, set[Use]] = defaultdict(set)
        for module in modules:
            self._collect(module)

    def of(self, pattern: object) -> frozenset[Use]:
        return frozenset(self._uses[id(pattern)] or {"search"})

    def _collect(self, module: ModuleType) -> None:
        known = {name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)}
        used: set[int] = set()
        for node in ast.walk(self.trees[module.__name__]):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in known
                and node.attr in _METHODS | _AT_REST
            ):
                used.add(id(node.value))
        for node in ast.walk(self.trees[module.__name__]):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = node.func
                if (
                    isinstance(called.value, ast.Name)
                    and called.value.id in known
                    and called.attr in _METHODS
                ):
                    from_anywhere = len(node.args) > 1 and called.attr == "match"
                    use: Use = "search" if from_anywhere else _CALLS[called.attr]
                    self._uses[id(known[called.value.id])].add(use)
                    used.add(id(called))
        for node in ast.walk(self.trees[module.__name__]):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in known
            ):
                if id(node) not in used and node.attr in _METHODS:  # handed on as a function
                    self._uses[id(known[node.value.id])].add(_CALLS[node.attr])
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.args
                and isinstance(node.args[0], ast.Name)
                and node.args[0].id in known
                and node.func.attr in _METHODS
            ):
                self._uses[id(known[node.args[0].id])].add(_CALLS[node.func.attr])
                used.add(id(node.args[0]))
        for node in ast.walk(self.trees[module.__name__]):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and node.id in known
                and id(node) not in used
            ):
                self._uses[id(known[node.id])].add("search")


def _in_module(module: ModuleType, uses: _Uses) -> Iterator[Found]:
    tree = uses.trees[module.__name__]
    named = {
        id(node.value): node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    owners: dict[int, str] = {}
    for outer in ast.walk(tree):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            owners.update((id(inner), outer.name) for inner in ast.walk(outer))
    for name, value in list(vars(module).items()):
        if not isinstance(value, re.Pattern):
            for each in _held(value, 4):
                yield Found(f"{module.__name__}:{name}", each.pattern, each.flags, frozenset(["search"]))
    for node in ast.walk(tree):
        if not _is_call_of_re(node):
            continue
        call = cast("ast.Call", node)
        used = _CALLS[cast("ast.Attribute", call.func).attr]
        if id(call) not in owners and id(call) not in named:
            continue  # made when the module is imported: found among its values
        try:
            pattern, flags = _arguments(call, module)
        except NameError:
            yield Found(f"{module.__name__}:{owners.get(id(call), '')}", None, 0, frozenset())
            continue
        if isinstance(pattern, re.Pattern):
            continue
        name = named.get(id(call))
        made = vars(module).get(name) if name else None
        is_compiled = isinstance(made, re.Pattern) and made.pattern == pattern
        yield Found(
            f"{module.__name__}:{name or owners.get(id(call), '')}",
            pattern,
            flags,
            uses.of(made) if is_compiled else frozenset([used]),
        )


def _held(value: object, depth: int) -> Iterator[re.Pattern[Any]]:
    """The patterns inside a tuple, list, dict or record."""
    if isinstance(value, re.Pattern):
        yield cast("re.Pattern[Any]", value)
    elif depth and isinstance(value, dict):
        for each in cast("dict[Any, Any]", value).items():
            yield from _held(each, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for each in cast("Iterable[Any]", value):
            yield from _held(each, depth - 1)
    elif depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            yield from _held(getattr(value, each.name), depth - 1)


def _is_call_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _CALLS
    )


def _arguments(call: ast.Call, module: ModuleType) -> tuple[str | bytes, int]:
    """The pattern and the flags of a call, as the names of its module give them. Raises ``NameError``."""
    place = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2, "split": 3}
    at = place.get(cast("ast.Attribute", call.func).attr, 4)
    flags = next((each.value for each in call.keywords if each.arg == "flags"), None)
    if flags is None and len(call.args) > at:
        flags = call.args[at]
    return _value(call.args[0], module), int(_value(flags, module)) if flags is not None else 0


def _value(expression: ast.expr, module: ModuleType):
    return eval(compile(ast.Expression(expression), module.__name__, "eval"), dict(vars(module)))
