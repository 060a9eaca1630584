"""The code that a command line, a module or a file leads to, as hashes by name.

Trust holds for contents: what was looked at is what may run. Of a command line that is every word that names
a file, a folder or a Python module in the config's folder, what the project's manifests make of it, and what
these files import or name in turn. It errs on the side of too much. SQLite databases are left out: they are
data that changes with use.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from .models.original import digest
from .raw_data import inside

MOST_FILES = 2_000
"""Of more files than these, nothing is compared: they are asked about each time."""

_MOST_BYTES = 64 * 1024 * 1024
_MOST_OF_TEXT = 1024 * 1024
_DEPTH = 4
_UNCOUNTED = frozenset((".git", "__pycache__", ".toolspan"))
_CODE = frozenset(
    (
        *(".bat", ".cjs", ".cmd", ".exe", ".jar", ".js", ".jsx", ".lua", ".mjs", ".mts", ".php", ".pl"),
        *(".ps1", ".py", ".pyd", ".pyw", ".rb", ".sh", ".so", ".ts", ".tsx", ".wasm"),
    )
)
_SQLITE = b"SQLite format 3\0"
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NAMES_A_FILE = re.compile(r"[\w@.+-]*[./][\w@./+-]+")
_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".json", "/index.js", "/index.ts")
_MANIFESTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"),
    *("bunfig.toml", "deno.json", "deno.jsonc", "deno.lock", "pyproject.toml", "uv.lock", "uv.toml"),
    *("poetry.lock", "requirements.txt", "setup.py", "setup.cfg", ".npmrc", ".yarnrc", ".yarnrc.yml"),
    *("Makefile", "justfile", "Dockerfile", "compose.yaml", "docker-compose.yml", "Cargo.toml", "go.mod"),
)
_RUNNERS = frozenset(
    (
        *("npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "node", "deno", "tsx", "ts-node"),
        *("uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye"),
    )
)
_BUILDERS = frozenset(
    (
        *(
            "make",
            "just",
            "cargo",
            "go",
            "dotnet",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "docker",
            "docker-compose",
        ),
        *(
            "podman",
            "nix",
            "bazel",
            "mix",
            "bundle",
            "rake",
            "composer",
            "swift",
            "zig",
            "stack",
            "cabal",
            "sbt",
        ),
    )
)
"""Programs that run whatever the project's folder has, by rules that only they know."""

_BEFORE_A_FOLDER = frozenset(
    (
        *("--from", "--directory", "--project", "--prefix", "--cwd", "--package", "--dir", "--import"),
        *("--require", "--manifest-path", "--with", "--with-editable", "-C", "-p", "-r", "-f", "-e", "run"),
        *("exec", "start"),
    )
)
"""Words before the whole project's folder where that is code; elsewhere it is what a program works on."""


def program_files(
    words: Iterable[str], folder: Path, cwd: str | None = None, values: Iterable[str] = ()
) -> dict[str, str]:
    """The code in ``folder`` that the ``words`` of a command line, run in ``cwd``, lead to. ``values`` are
    those of its variables, such as PYTHONPATH."""
    scan = _Scan(folder.resolve(), folder / (cwd or ""))
    scan.command([*words])
    for value in values:
        for part in value.split(":"):
            scan.value(part)
    return scan.found


def imported_files(path: Path, text: bytes) -> dict[str, str]:
    """The modules beside the Python file ``path`` with the content ``text`` that it imports or names, and
    those that these do."""
    root = path.parent.resolve()
    scan = _Scan(root, root)
    scan.seen.add(path.resolve())
    scan.named_in(path, text)
    return scan.found


def folder_files(path: Path) -> dict[str, str]:
    """All files of the folder ``path``, by their paths in it."""
    scan = _Scan(path.resolve(), path)
    scan.folder(path)
    return scan.found


def named_file(path: Path, name: str) -> dict[str, str]:
    """The content of ``path``, called ``name`` in a config, if it is a file."""
    try:
        if not path.is_file():
            return {}
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
        return {} if data.startswith(_SQLITE) else {f"file {name}": digest(data)}
    except (OSError, ValueError):
        return {}


@dataclass
class _Scan:
    """A search for code in the folder ``root`` (resolved), from the folder ``base``."""

    root: Path
    base: Path
    found: dict[str, str] = field(default_factory=dict[str, str])
    seen: set[Path] = field(default_factory=set[Path])
    bytes_read: int = 0

    def command(self, words: list[str], depth: int = 0) -> None:
        """Add what a command line leads to."""
        runner = Path(words[0]).name.lower().partition(".")[0] if words else ""
        before = ""
        for index, word in enumerate(words):
            self.word(word, is_code=index == 1 or before in _BEFORE_A_FOLDER)
            name, equals, value = word.partition("=")
            if equals:
                self.word(value, is_code=name in _BEFORE_A_FOLDER)
            if depth < _DEPTH and re.search(r"[\s;&|]", word):
                self.command(words_of(word), depth + 1)
            before = word
        if runner in _RUNNERS or runner.startswith("python"):
            self._manifests(words, depth)
        if runner in _BUILDERS:
            self.folder(self.base)

    def word(self, word: str, *, is_code: bool = False) -> None:
        """Add the file, the folder or the module that ``word`` names, if it is one."""
        if not word or len(word) > 4_096 or "\0" in word:
            return
        try:
            path = self.base / Path(word).expanduser()
            real = path.resolve()
            if not self._counts(word, real):
                return
            if real.is_file():
                self.file(path)
            elif real.is_dir():
                if is_code or not self.root.is_relative_to(real):
                    self.folder(path)
            elif _MODULE.fullmatch(name := word.partition(":")[0]):
                self._module(name)
        except (OSError, RuntimeError, ValueError):
            return  # no path

    def value(self, value: str) -> None:
        """Add the code that a variable's ``value`` names: a folder of it, or a file; not files of data."""
        if Path(value).suffix in _CODE or not Path(value).suffix:
            self.word(value)

    def _counts(self, word: str, real: Path) -> bool:
        """Whether a path is the project's: in its folder, or written relative to it."""
        return real.is_relative_to(self.root) or not (Path(word).is_absolute() or word.startswith("~"))

    def _module(self, name: str) -> None:
        for parent in (self.base, self.base / "src"):
            path = parent.joinpath(*name.split("."))
            if (module := path.with_name(f"{path.name}.py")).is_file():
                self.file(module)
            if path.is_dir():
                self.folder(path)

    def _manifests(self, words: list[str], depth: int) -> None:
        for name in _MANIFESTS:
            if (path := self.base / name).is_file():
                self.file(path, follow=False)
        for word in words[1:]:
            if _MODULE.fullmatch(word.replace("-", "_")):
                self.word(f"node_modules/.bin/{word}")
        if depth >= _DEPTH:
            return
        for command in self._scripts():
            self.command(words_of(command), depth + 1)

    def _scripts(self) -> Iterator[str]:
        """The commands, files and modules that the project's manifests name."""
        package = _data(self.base / "package.json", json.loads)
        for key in ("scripts", "bin", "exports"):
            yield from texts_in(inside(package, key))
        yield from texts_in(inside(package, "main"))
        if (self.base / "pyproject.toml").is_file():
            import tomllib

            project = _data(self.base / "pyproject.toml", tomllib.loads)
            for keys in (("project", "scripts"), ("tool", "poetry", "scripts"), ("project", "gui-scripts")):
                yield from texts_in(inside(project, *keys))
            yield from texts_in(inside(project, "project", "entry-points"))

    def folder(self, path: Path) -> None:
        """Add every file of the folder ``path``; where they are too many, what never compares as equal."""
        try:
            files = sorted(self._files(path))
        except OSError:
            files = []
        if len(files) + len(self.found) > MOST_FILES:
            self._give_up(path)
            return
        for each in files:
            self.file(each, follow=False)

    def _files(self, path: Path) -> Iterator[Path]:
        count = 0
        for each in path.rglob("*"):
            if _UNCOUNTED.isdisjoint(each.relative_to(path).parts) and each.is_file():
                yield each
                count += 1
                if count > MOST_FILES:
                    return

    def file(self, path: Path, *, follow: bool = True) -> None:
        """Add the file ``path``, and with ``follow`` what it imports and names."""
        real = path.resolve()
        if real in self.seen:
            return
        self.seen.add(real)
        if len(self.found) > MOST_FILES or self.bytes_read > _MOST_BYTES:
            self._give_up(path.parent)
            return
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES)
        except OSError:
            self.found[f"file {self._name(path)} (it cannot be read)"] = secrets.token_hex()
            return
        if data.startswith(_SQLITE):
            return
        self.bytes_read += len(data)
        self.found[f"file {self._name(path)}"] = digest(data)
        if follow:
            self.named_in(path, data)

    def named_in(self, path: Path, text: bytes) -> None:
        """Add the files beside ``path`` that its content ``text`` imports or names."""
        if len(text) > _MOST_OF_TEXT or b"\0" in text[:1_024]:
            return
        folders = dict.fromkeys((path.parent, self.base))
        if path.suffix in (".py", ".pyw"):
            for name in sorted(_python_names(text)):
                for folder in folders:
                    self._beside(folder, name)
            return
        for name in sorted(set(_NAMES_A_FILE.findall(text.decode("utf-8", "replace")))):
            for folder in folders:
                for ending in _ENDINGS:
                    self._linked(folder / f"{name}{ending}")

    def _beside(self, folder: Path, name: str) -> None:
        """Add the module ``name`` in ``folder``, a package whole, or the file of that name."""
        first = name.partition(".")[0]
        if (module := folder / f"{first}.py").is_file():
            self._linked(module)
        if first and (folder / first).is_dir() and (folder / first).resolve() != self.root:
            for each in sorted(self._files(folder / first)):
                if each.suffix == ".py":
                    self._linked(each)
        self._linked(folder / name)

    def _linked(self, path: Path) -> None:
        """Add ``path`` if it is code in the project: files of data that code names may change by its use."""
        try:
            is_inside = path.is_file() and path.resolve().is_relative_to(self.root)
            if is_inside and (path.suffix in _CODE or path.stat().st_mode & 0o111):
                self.file(path)
        except (OSError, RuntimeError, ValueError):
            return  # no path

    def _name(self, path: Path) -> str:
        real = path.resolve()
        return real.relative_to(self.root).as_posix() if real.is_relative_to(self.root) else str(real)

    def _give_up(self, path: Path) -> None:
        name = self._name(path)
        self.found[f"folder {name} (too large to compare, so it is asked about each time)"] = (
            secrets.token_hex()
        )


def words_of(command: str) -> list[str]:
    """The words of a command line."""
    import shlex

    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _python_names(text: bytes) -> set[str]:
    """The modules that Python code imports, and the texts in it that can name a module or a file."""
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module} if node.module else set()
            found |= {each.name for each in node.names} if node.level else set()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names_one = _MODULE.fullmatch(node.value) or _NAMES_A_FILE.fullmatch(node.value)
            found |= {node.value} if names_one else set()
    return found


def _data(path: Path, parse: Any) -> Any:
    try:
        return parse(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def texts_in(value: Any) -> Iterator[str]:
    """Every text in ``value``, which is JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in cast("Mapping[str, Any]", value).values():
            yield from texts_in(part)
    elif isinstance(value, list):
        for part in cast("Sequence[Any]", value):
            yield from texts_in(part)
