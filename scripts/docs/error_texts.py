"""The errors that the code can raise: each code with its texts, read out of the sources."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from toolspan_bridge import errors as bridge_errors

ROOT = Path(__file__).parents[2]
PACKAGES = ("server/toolspan_server", "bridge/toolspan_bridge")
ANY = "…"
_CODE = re.compile(rf"[a-z][a-z_]*(?:{ANY})?")
_TELLING = re.compile(r"[A-Za-z]{3}")
_POSITIONS: Mapping[str, tuple[int, int, int]] = {
    "refuse": (0, 1, 2),
    "failed": (2, 3, 4),
    "_failure": (0, 1, 2),
    "instead": (0, 1, 2),
    "LocalFailure": (0, 1, 2),
}
"""Of the bridge's and the upstreams' helpers: where the text, the code and the advice stand."""


_OTHERS = ("bad_config", "unexpected")
"""Of errors that are no exceptions of the bridge (``cli/terminal/errors.py``)."""


@dataclass
class Texts:
    """What is said with one code: the texts, ``…`` for what differs, each with its advice or ''."""

    advice: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, text: str, advice: str) -> None:
        """Note ``text``, unless nothing of it is fixed."""
        text = " ".join(text.split())
        if _TELLING.search(text) and not self.advice.get(text):
            self.advice[text] = " ".join(advice.split())


@cache
def of_tools() -> Mapping[str, Texts]:
    """The codes of failed tool calls, sorted, each with its texts."""
    found: dict[str, Texts] = defaultdict(Texts)
    for module in _modules():
        for code, text, advice in _Module(module).failures():
            found[code].add(text, advice)
    return dict(sorted(found.items()))


@cache
def of_commands() -> Mapping[str, Texts]:
    """The codes of commands' errors, each with the texts of its exceptions."""
    classes = {
        name: value.code
        for name, value in vars(bridge_errors).items()
        if isinstance(value, type) and issubclass(value, bridge_errors.BridgeError)
    }
    found: dict[str, Texts] = {code: Texts() for code in dict.fromkeys([*classes.values(), *_OTHERS])}
    for module in _modules():
        resolver = _Module(module)
        for call in resolver.calls():
            code = classes.get(_name(call.func))
            if code is not None and call.args:
                for text in resolver.texts(call.args[0]):
                    found[code].add(text, "")
    return found


def _modules() -> Iterator[ast.Module]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ast.parse(path.read_text("utf-8"))


class _Module:
    """Reads the failures of one module; a name stands for each text that its function, or else the module,
    gives it."""

    def __init__(self, module: ast.Module) -> None:
        self._module = module
        self._globals = _assigned(module.body)
        self._locals: dict[str, list[ast.expr]] = {}

    def calls(self) -> Iterator[ast.Call]:
        """Every call in a function of the module, while that function's names are known."""
        for function in _functions(self._module):
            self._locals = _assigned(ast.walk(function))
            yield from (node for node in ast.walk(function) if isinstance(node, ast.Call))

    def failures(self) -> Iterator[tuple[str, str, str]]:
        """``(code, text, advice)`` of each failure; texts that are not written out are ''."""
        for call in self.calls():
            text, code, advice = self._parts(call)
            for found in self.texts(code):
                if _CODE.fullmatch(found):
                    says = next(self.texts(advice), "")
                    yield found, "", ""
                    yield from ((found, each, says) for each in self.texts(text))
        for name in _defaults(self._module):
            yield name, "", ""

    def _parts(self, call: ast.Call) -> tuple[ast.expr | None, ast.expr | None, ast.expr | None]:
        given = {each.arg: each.value for each in call.keywords}
        if "error_code" in given:
            return (call.args[0] if call.args else None), given["error_code"], given.get("user_action")
        places = _POSITIONS.get(_name(call.func), ())
        values = [call.args[place] if place < len(call.args) else None for place in places]
        if not values:
            return None, None, None
        return values[0], values[1] or given.get("code"), values[2] or given.get("action")

    def texts(self, node: ast.expr | None, depth: int = 3) -> Iterator[str]:
        """What ``node`` may be, as far as it is written out."""
        match node:
            case ast.Constant(value=str() as value):
                yield value
            case ast.JoinedStr(values=parts):
                whole = "".join(str(part.value) if isinstance(part, ast.Constant) else ANY for part in parts)
                yield re.sub(f"{ANY}+", ANY, whole)
            case ast.IfExp(body=one, orelse=other):
                yield from self.texts(one, depth)
                yield from self.texts(other, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                ends = list(self.texts(right, depth)) or [ANY]
                yield from (start + end for start in list(self.texts(left, depth)) or [ANY] for end in ends)
            case ast.Name(id=name) if depth:
                for value in self._locals.get(name) or self._globals.get(name, ()):
                    yield from self.texts(value, depth - 1)
            case _:
                return


def _functions(node: ast.AST) -> Iterator[ast.AST]:
    """The outermost functions in ``node``."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner
        else:
            yield from _functions(inner)


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id].append(node.value)
    return dict(found)


def _defaults(module: ast.Module) -> Iterator[str]:
    """The codes that classes, parameters and finished results have where nothing else is said."""
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id="error_code")], value=ast.Constant(value=str() as code)):
                yield code
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "error_code":
                        yield from _constants(value)
            case _:
                pass


def _constants(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as code):
            yield code
        case ast.Call(args=[*_, ast.Constant(value=str() as code)]):
            yield code
        case _:
            return


def _name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]
