"""What decides what Toolspan does, and lies where tools work: tools and commands leave it alone.

``own_paths`` gathers all of it, for every server that has a workspace: the configs in use, what they have
Toolspan run with the files that these load in turn, and state.

What trust is bound to (``code_files``) is the whole folder, since no interpreter is asked. Tools work on that
folder, so what they may not change has to be less: the files that the config names, and every file of the
project that a word in one of them names. A word is compared as an import, a ``require``, a ``source`` or a
path would be; one that names a file by chance keeps it too.

Programs in languages whose way to name files is not known keep the folder that they lie in, unless it is the
config's own or one above.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..common.git_programs import is_program
from ..common.modules.bytecode import project_root
from ..common.regular_files import read_regular
from ..common.state.folder import STATE_FOLDER, locate_user_state
from ..engines.definitions import LOCK_FILE
from .code_files import FolderCode, is_data
from .consent import code_of_config
from .models.config import Config
from .raw_data import entries, inside

_MCP_JSON = ".mcp.json"
_MOST_BYTES = 1_048_576
_MOST_FILES = 1_000
_PYTHON = (".py", ".pyw")
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_SHELL = (".sh", ".bash", ".zsh", ".ksh")
_FOLLOWED = frozenset((*_PYTHON, *_SCRIPTS, *_SHELL))
_SHELL_LINE = re.compile(r"#!\s*+\S*(?:/|env\s++)(?:ba|da|z|k)?sh\b")
_ENDINGS = (
    "",
    ".py",
    *_SCRIPTS,
    *_SHELL,
    "/__init__.py",
    "/__main__.py",
    "/index.js",
    "/index.ts",
    "/index.mjs",
)

_WORD = re.compile(r"[\w.@~/-]++")
_FROM = re.compile(r"^[ \t]*+from[ \t]++([.\w]++)[ \t]++import[ \t]++(\([^)]*+|[^\n#;(]++)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*+import[ \t]++([^\n#;]++)", re.MULTILINE)

_log = logging.getLogger(__name__)


def own_paths(config: Config) -> tuple[Path, ...]:
    """The files and folders that decide what the program does that serves ``config``, and those beside it.

    These are its files and its lock file, files with tokens, descriptions of APIs, what it runs
    (``kept_files``), its state, also where that is not kept in the default folder, which a person may take
    over as it is; what is remembered for the user, and the environment of Python that Toolspan runs in.
    """
    used = (config, *config.beside)
    works = list(dict.fromkeys(folder for each in used for folder in worked_in(each)))
    found = [*config.left_alone, *(path for each in used for path in _obeyed(each, works))]
    with suppress(OSError):  # the user has no folder for it
        found.append(locate_user_state())
    if sys.prefix != sys.base_prefix:
        found.append(Path(sys.prefix))
    return tuple(dict.fromkeys(path.absolute() for path in found))


def _obeyed(config: Config, works: Sequence[Path]) -> Iterator[Path]:
    base = config.directory
    yield config.state_directory
    yield from (folder / STATE_FOLDER for folder in (base, *works))
    yield base / LOCK_FILE
    yield from config.files
    yield from config.token_files
    for source in config.tools.sources:
        values = (getattr(source, name) for name in source.model_fields)
        yield from (base / value for value in values if isinstance(value, str) and (base / value).is_file())
    yield from kept_files(config, works)


def kept_files(config: Config, works: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The files and folders that are run, or loaded by what is run, and modules that would be loaded by it if
    they were there: those of the config's project, and those in its workspaces and the folders ``works``."""
    own = list(dict.fromkeys(each.resolve() for each in (config.directory, *worked_in(config), *works)))
    kept: dict[Path, None] = {}
    for code in (code_of_config(config, own), *map(_code_of_mcp_json, own)):
        kept |= _follow(code, own)
    return tuple(kept)


def command_files(
    words: Sequence[str], cwd: str | None, env: Mapping[str, str], works: Sequence[Path]
) -> Iterable[Path]:
    """As ``kept_files``, of the command line ``words``, which is started in ``cwd`` with the variables
    ``env`` beside servers that work in the folders ``works``."""
    own = list(dict.fromkeys(each.resolve() for each in (Path.cwd(), *works)))
    code = FolderCode(own[0], own)
    code.add_command(words, cwd, env)
    return _follow(code, own)


def _follow(code: FolderCode, own: Sequence[Path]) -> dict[Path, None]:
    following = _Following([project_root(code.folder), *own[1:]], own)
    following.follow(code.named.values())
    return following.kept


def worked_in(config: Config) -> Iterator[Path]:
    """The folders in which the tools of ``config`` change files."""
    for each in config.services.entries("workspaces").values():
        yield (config.directory / each.path).resolve()
        yield from ((config.directory / root.path).resolve() for root in each.roots if root.writable)


def _code_of_mcp_json(folder: Path) -> FolderCode:
    """What the servers of the ``.mcp.json`` in ``folder`` run of it."""
    import json

    code = FolderCode(folder)
    try:
        servers = inside(json.loads(read_regular(folder / _MCP_JSON, _MOST_BYTES)), "mcpServers")
    except (OSError, ValueError, RecursionError):
        return code
    for entry in cast("dict[str, Any]", servers).values() if isinstance(servers, dict) else ():
        command, cwd, env = (inside(entry, key) for key in ("command", "cwd", "env"))
        if isinstance(command, str):
            words = [command, *map(str, entries(inside(entry, "args")))]
            variables = cast("dict[str, Any]", env) if isinstance(env, dict) else {}
            texts = {name: str(value) for name, value in variables.items()}
            code.add_command(words, cwd if isinstance(cwd, str) else None, texts)
    return code


@dataclass(slots=True)
class _Following:
    """The files in the folders ``roots``, a project and others that tools work in, that are loaded from the
    first ones on. ``own`` are the folders of the config, first of all, and of its workspaces."""

    roots: Sequence[Path]
    own: Sequence[Path]
    kept: dict[Path, None] = field(default_factory=dict[Path, None])
    _followed: set[Path] = field(default_factory=set[Path])
    _listed: dict[Path, frozenset[str]] = field(default_factory=dict[Path, frozenset[str]])

    def follow(self, files: Iterable[Path]) -> None:
        """Keep ``files``, and what they lead to."""
        waiting = [(Path(os.path.normpath(path)), path.parent) for path in files]
        while waiting:
            path, start = waiting.pop()
            if path in self._followed:
                continue
            if len(self._followed) >= _MOST_FILES:
                _log.warning(
                    "%s: more than %d files are loaded; others may be changed", self.roots[0], _MOST_FILES
                )
                return
            self._followed.add(path)
            self.kept[path] = None
            text = _text(path)
            if text is None or not (path.suffix in _FOLLOWED or _SHELL_LINE.match(text)):
                self._keep_folder(path)
                continue
            bases = list(dict.fromkeys((path.parent, start, _import_root(path), self.own[0])))
            waiting += [(each, start) for each in self._named(text, bases)]
            if path.suffix in _PYTHON:
                self._keep_places(text, _import_root(path))

    def _keep_folder(self, path: Path) -> None:
        """Keep the folder of a program that is not followed."""
        folder = path.resolve().parent
        is_above = any(each.is_relative_to(folder) for each in self.own)
        if is_program(path) and self._is_within(folder) and not is_above:
            self.kept[folder] = None

    def _named(self, text: str, bases: Sequence[Path]) -> Iterator[Path]:
        for word in dict.fromkeys((*_WORD.findall(text), *_imported(text))):
            for base, name in _spelled(word, bases):
                yield from self._files(base, name)

    def _files(self, base: Path, name: str) -> Iterator[Path]:
        """The files of the project that ``name`` may stand for in ``base``."""
        first = name.partition("/")[0]
        if first not in ("..", "") and not self._has(base, first):
            return
        for ending in _ENDINGS:
            path = Path(os.path.normpath(base / f"{name}{ending}"))
            is_there = self._has(path.parent, path.name, whole=True) and path.is_file()
            if is_there and not is_data(path.name) and self._is_within(path.resolve()):
                yield path

    def _is_within(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.roots)

    def _has(self, folder: Path, name: str, *, whole: bool = False) -> bool:
        """Whether ``folder`` has ``name``, or unless it is ``whole`` something that begins with it."""
        if folder not in self._listed:
            try:
                names = os.listdir(folder) if self._is_within(folder) else []  # noqa: PTH208
            except OSError:
                names = []
            self._listed[folder] = frozenset((*names, *(f"{each.partition('.')[0]}." for each in names)))
        there = self._listed[folder]
        return name in there or (not whole and f"{name.partition('.')[0]}." in there)

    def _keep_places(self, text: str, root: Path) -> None:
        """Keep the places where a module would be found before the one that is imported now."""
        for module in _imported(text):
            first = module.partition(".")[0]
            if first and not (root / first).is_dir():
                self.kept[root / f"{first}.py"] = None
                self.kept[root / first / "__init__.py"] = None


def _imported(text: str) -> Iterator[str]:
    """The modules that Python imports in ``text``, with dots in front of relative ones."""
    for module, names in _FROM.findall(text):
        yield module
        dot = "" if module.endswith(".") else "."
        yield from (f"{module}{dot}{name}" for name in re.findall(r"\w++", names))
    for names in _IMPORT.findall(text):
        yield from (each.split()[0] for each in names.split(",") if each.strip())


def _spelled(word: str, bases: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Where a file may lie that ``word`` names, and what it is called there."""
    if "/" in word or not word.strip("."):
        name = os.path.normpath(word.lstrip("/"))
        yield from ((base, name) for base in bases if name.strip("./"))
        return
    yield from ((base, word) for base in bases)
    dots = len(word) - len(word.lstrip("."))
    module = word.strip(".").replace(".", "/")
    if dots:
        yield bases[0].joinpath(*[".."] * (dots - 1)), module
    elif "." in word:
        yield from ((base, module) for base in bases)


def _import_root(path: Path) -> Path:
    """The folder by which Python imports what lies beside ``path``: the first one that is no package."""
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    return folder


def _text(path: Path) -> str | None:
    """The text of the script ``path``; ``None`` for what is none, or is too long."""
    try:
        data = read_regular(path, _MOST_BYTES)
    except (OSError, ValueError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace")
