"""Which handlers a module registers, read from its source: nothing of it is run.

What a module may register in a way that its text does not show is not denied: it is unknown.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from ...common.modules.sources import found_spec
from ...common.modules.text import MOST_OF_MODULE
from ...common.regular_files import read_regular
from ._declared_handlers import DeclaredHandlers

_OURS = "toolspan_server"
_HARMLESS = sys.stdlib_module_names | {_OURS}
_DYNAMIC = frozenset({"__import__", "eval", "exec", "import_module"})


def declarations(source: str, config_dir: Path, text: bytes | None = None) -> DeclaredHandlers:
    """What the module ``source`` registers: a dotted name, or a ``.py`` file beside the config, whose content
    is ``text`` if that was read before.

    Raises ``ImportError``, ``OSError``, ``SyntaxError`` or ``ValueError`` when it cannot be imported.
    """
    path = (config_dir / source).resolve() if source.endswith(".py") else _module_file(source)
    if path is None:
        return DeclaredHandlers(is_all=False)
    tree = ast.parse(read_regular(path, MOST_OF_MODULE) if text is None else text, str(path))
    return DeclaredHandlers(set(_registered(tree)), _shows_all(tree))


def _module_file(name: str) -> Path | None:
    origin = found_spec(name).origin
    return Path(origin) if origin is not None and origin.endswith(".py") else None


def _registered(tree: ast.Module) -> Iterator[tuple[str, str]]:
    names = set(_handler_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_handler(node.func, names) and (name := _text(node.args[:1])):
            kinds = [keyword.value for keyword in node.keywords if keyword.arg == "kind"]
            yield (_text(kinds) or "builtin", name)


def _shows_all(tree: ast.Module) -> bool:
    """Whether the text of a module shows every handler that it registers."""
    names = set(_handler_names(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=imported):
                if any(_top(each.name) not in _HARMLESS for each in imported):
                    return False
            case ast.ImportFrom(module=module, level=level):
                if level or _top(module or "") not in _HARMLESS:
                    return False
            case ast.Name(id=word) | ast.Attribute(attr=word):
                if word in _DYNAMIC:
                    return False
            case ast.Call(func=function, args=arguments):
                if _is_handler(function, names) and not _text(arguments[:1]):
                    return False
            case _:
                pass
    return True


def _handler_names(tree: ast.Module) -> Iterator[str]:
    """What ``handler`` of ours is called in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _top(node.module or "") == _OURS:
            yield from (each.asname or each.name for each in node.names if each.name == "handler")


def _is_handler(function: ast.expr, names: set[str]) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr == "handler"
    return isinstance(function, ast.Name) and function.id in names


def _text(nodes: list[ast.expr]) -> str:
    node = nodes[0] if nodes else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _top(module: str) -> str:
    return module.partition(".")[0]
