"""Variables in entries of other clients, written as a config writes them: ``${VAR}``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ._places import Dialect

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SHELL = rf"\$\{{(?P<shell>{_NAME}(?::-[^${{}}]*)?)\}}"
_EDITOR = r"\$\{(?P<editor>[A-Za-z/][A-Za-z]*)(?::(?P<argument>[^{}]*))?\}"
_PATTERNS: dict[Dialect, re.Pattern[str]] = {
    "literal": re.compile(r"(?!)"),
    "shell": re.compile(_SHELL),
    "gemini": re.compile(rf"{_SHELL}|\$(?P<bare>{_NAME})"),
    "editor": re.compile(_EDITOR),
    "continue": re.compile(rf"\$\{{\{{\s*(?:secrets|inputs)\.(?P<secret>[A-Za-z0-9_./-]+)\s*\}}\}}|{_SHELL}"),
    "opencode": re.compile(rf"\{{env:(?P<env>{_NAME})\}}|\{{file:(?P<file>[^{{}}]*)\}}"),
}


@dataclass(slots=True)
class Translation:
    """Texts of one file in the words of a config. ``problems`` is what only the other client can fill in,
    ``asked`` the variables that it asks a person for."""

    dialect: Dialect
    home: Path
    project: Path
    problems: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def text(self, text: str) -> str:
        """``text``, translated. What is no variable stays what it is."""
        parts: list[str] = []
        at = 0
        for match in _PATTERNS[self.dialect].finditer(text):
            parts += [_literal(text[at : match.start()]), self._put(match)]
            at = match.end()
        return "".join([*parts, _literal(text[at:])])

    def _put(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        if found.get("editor") is not None:
            return self._editor(found["editor"] or "", found["argument"], match.group())
        if found.get("file") is not None:
            self.problems.append(f"{match.group()} cannot be filled in here: put the value in a variable")
            return match.group()
        name = found.get("shell") or found.get("bare") or found.get("env") or found.get("secret") or ""
        return name if not name else f"${{{name if found.get('shell') else variable_name(name)}}}"

    def _editor(self, kind: str, argument: str | None, whole: str) -> str:
        folders: dict[str, Callable[[], str]] = {
            "userHome": lambda: str(self.home),
            "workspaceFolder": lambda: str(self.project),
            "workspaceRoot": lambda: str(self.project),
            "workspaceFolderBasename": lambda: self.project.name,
            "cwd": lambda: str(self.project),
            "pathSeparator": lambda: "/",
            "/": lambda: "/",
        }
        if argument is None and kind in folders:
            return _literal(folders[kind]())
        if kind == "env" and argument and re.fullmatch(_NAME, argument):
            return f"${{{argument}}}"
        if kind == "input" and argument:
            self.asked.append(variable_name(argument))
            return f"${{{variable_name(argument)}}}"
        if argument is None and re.fullmatch(_NAME, kind):
            return f"${{{kind}}}"
        self.problems.append(f"{whole} cannot be filled in here: put the value in a variable")
        return _literal(whole)


def variable_name(text: str) -> str:
    """``text`` as the name of an environment variable: ``api-key`` is ``API_KEY``."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "VALUE"
    name = name if re.fullmatch(_NAME, text) else name.upper()
    return name if not name[0].isdigit() else f"_{name}"


def _literal(text: str) -> str:
    return text.replace("${", "$${")
