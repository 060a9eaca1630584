"""The files that a found config's programs and handlers may consist of, as hashes by name.

Which files an interpreter loads is not guessed. What runs something of a config's folder is bound to the
whole tree that came with it: to every file but those of kinds that no interpreter loads by itself
(``_DATA``). Free of it is only what is shown not to run the folder: a program on a short list that fetches a
package or an image by its plain name (``_LAUNCHERS``), and nothing in whose command line and variables could
name something that is there. No file is left out because of its content.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..common.modules.bytecode import is_home, project_root
from ..common.regular_files import open_regular, read_regular
from ..common.state.folder import STATE_FOLDER, why_not_ours
from ..schema.dangerous_variables import changes_code
from .models.original import digest

MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""Most files that are compared by their contents, and their length together. In folders beyond that, files
are compared by size, times and number on the disk."""

MOST_LISTED = 200_000
"""Of more files than these, nothing is compared: they are asked about each time."""

_DATA = frozenset(
    (
        *(".md", ".markdown", ".rst", ".txt", ".log", ".csv", ".tsv", ".jsonl", ".ndjson"),
        *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".tif", ".tiff", ".avif", ".heic"),
        *(
            ".mp3",
            ".mp4",
            ".wav",
            ".ogg",
            ".flac",
            ".mov",
            ".webm",
            ".mkv",
            ".pdf",
            ".docx",
            ".xlsx",
            ".pptx",
        ),
        *(".db", ".sqlite", ".sqlite3", ".db3", ".duckdb", ".parquet", ".arrow"),
        *(
            f"{kind}{part}"
            for kind in (".db", ".sqlite", ".sqlite3")
            for part in ("-wal", "-shm", "-journal")
        ),
        *(".bak", ".tmp", ".swp", ".pid"),
    )
)
"""Endings of texts, pictures and databases: they change with use, and no interpreter, shell or package
manager loads them unless it is told their name. An executable file is never one of them. JSON is not here:
package.json and tsconfig.json decide which code runs."""

_NAMES_PACKAGES = re.compile(
    r"(?:^|/)(?:requirements|constraints|cmakelists)[^/]*(?:/[^/]*)?$", re.IGNORECASE
)
"""Texts that package managers and builders do load by themselves, though they end as data does."""

_OURS = frozenset(("toolspan.yaml", "toolspan.yml", "toolspan.json", ".mcp.json", "toolspan.lock"))
"""Files of the config's own folder that only Toolspan reads: what they say is compared key by key."""

_VALUELESS = frozenset(
    (
        *("-u", "-B", "-s", "-O", "-OO", "-q", "-v", "-P", "--", "--enable-source-maps", "--no-warnings"),
        *("--experimental-strip-types", "--trace-warnings", "-A", "--allow-all", "--no-sync", "--frozen"),
        *("--quiet", "--offline", "--locked"),
    )
)
"""Options of interpreters that have no value: the word after them can be what is run."""

_HIDES_PREFIX = re.compile(r"-[A-DF-HJ-WYZa-z]*+[EIX].*")
_INTERPRETER = re.compile(r"(?:python|pypy|node|bun|deno|uv|tsx|ruby|perl|php|sh|bash|zsh|dash)[\d.]*")
"""Programs that take no option from behind the script or the module that they run."""

_HAS_CODE = re.compile(r"\.[A-Za-z]\w*")
_COMPILED = re.compile(r".+\.\w+-\w+(?:\.opt-\w+)?\.pyc")
"""What Python writes into ``__pycache__``. A module is never imported from a file of such a name itself."""
_PLAIN = re.compile(r"[\w\s./:=,@%+~;&|<>()-]*")
"""Words that spell the names in them: without patterns, variables, quotes and escapes."""
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_TOP = re.compile(r"((?:\.\./)*[^/]+)/")
_UNTOLD = re.compile(r"\$|^(?!https?://).*%[0-9A-Fa-f]{2}", re.DOTALL)
"""Words that may name anything once they are read: with a variable, or an escape of URLs."""
_LONGEST_WORD = 4_096
_MOST_PARTS = 200
_MOST_DATA = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Launcher:
    """A program that fetches the package or image that is named in its arguments, and runs that.

    ``before`` are the words that have it do so; ``options`` those that change nothing else, with what their
    value has to be, or ``None`` for those without one. With any other it counts as running the folder.
    """

    package: re.Pattern[str]
    options: Mapping[str, re.Pattern[str] | None]
    before: tuple[str, ...] = ()


_ANY = re.compile(r".*", re.DOTALL)
_URL = re.compile(r"(?:[\w-]+=)?https?://\S+")
_PYPI = re.compile(
    r"(?!python|cpython|pypy|graalpy)[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?"
    r"(?:@latest|(?:@|[=~<>!]=?=?)\d[\w.*+!-]*)?"
)
_NPM = re.compile(
    r"(?!.*\.(?i:tgz|tar|tar\.gz)$)(?:@[\w.~-]+/)?[A-Za-z0-9][\w.~-]*(?:@(?:[\^~]?\d[\w.+-]*|[A-Za-z][\w-]*))?"
)
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]*")
_UVX: Mapping[str, re.Pattern[str] | None] = {
    **dict.fromkeys(("-q", "--quiet", "-v", "--verbose", "--isolated", "--offline", "-n", "--no-cache")),
    "--refresh": None,
    **dict.fromkeys(("--index", "--default-index", "--index-url", "-i", "--extra-index-url"), _URL),
    **dict.fromkeys(("--from", "--with", "-w"), _PYPI),
    **dict.fromkeys(("-p", "--python"), re.compile(r"\d+(?:\.\d+)*")),
    "--prerelease": re.compile(r"[a-z-]+"),
}
_CONTAINER = _Launcher(
    _IMAGE,
    {
        **dict.fromkeys(
            ("-i", "-t", "-it", "-ti", "--interactive", "--tty", "--rm", "--init", "--read-only")
        ),
        **dict.fromkeys(
            (
                *("-e", "--env", "--name", "--network", "--net", "-p", "--publish", "--memory", "-m"),
                *("--cpus", "--pull", "--platform", "-u", "--user", "-w", "--workdir", "--add-host"),
                *("--label", "-l", "-v", "--volume", "--mount"),
            ),
            _ANY,
        ),
    },
    ("run",),
)
_LAUNCHERS: Mapping[str, _Launcher] = {
    # uv reads no settings of the project for tools, and a tool's program has its own folder first on its path
    "uvx": _Launcher(_PYPI, _UVX),
    "uv": _Launcher(_PYPI, _UVX, ("tool", "run")),
    # npx prefers packages of node_modules, and obeys package.json and .npmrc: these are compared (``_npm``)
    "npx": _Launcher(
        _NPM,
        {
            **dict.fromkeys(("-y", "--yes", "-q", "--quiet")),
            **dict.fromkeys(("-p", "--package"), _NPM),
        },
    ),
    # a container has the files of its image, and of the folders that are mounted in it
    "docker": _CONTAINER,
    "podman": _CONTAINER,
}
_TAKE_DATA = re.compile(
    r"(?:mcp-server-sqlite|@modelcontextprotocol/server-filesystem)(?:@(?:latest|\d[\w.]*))?"
)
"""Packages of which it is known that their arguments are only what they work on."""
_NPM_FILES = ("package.json", "package-lock.json", "npm-shrinkwrap.json")


def hash_file(path: Path, name: str) -> dict[str, str]:
    """The hash of the whole file ``path``, called ``name``; empty where there is no such file. What is not a
    regular file, or cannot be read, is known by what it is."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return {}
    return {} if stat.S_ISDIR(found.st_mode) else _hashed(f"file {name}", str(path), found)


def tree_files(folder: Path) -> dict[str, str]:
    """The hashes of the files of ``folder`` that may be code."""
    code = FolderCode(folder)
    code.trees[folder.resolve()] = None
    return code.contents()


@dataclass
class FolderCode:
    """What the entries of a config in ``folder`` run of the files that came with it.

    ``trees`` are the folders that count as a whole, ``named`` the files that count whatever they end in, by
    name; those in the folders ``works`` count as if they had come with it. ``given`` is what interpreters are
    told: a file of data whose name is in it counts, and each does where that may spell any (``data``).
    ``bytecode``: whether compiled modules in ``__pycache__`` may be run.
    """

    folder: Path
    works: Sequence[Path] = ()
    trees: dict[Path, None] = field(default_factory=dict[Path, None])
    named: dict[str, Path] = field(default_factory=dict[str, Path])
    given: str = ""
    data: bool = False
    bytecode: bool = False
    _listed: dict[Path, list[tuple[str, str]]] = field(
        default_factory=dict[Path, list[tuple[str, str]]], init=False, repr=False
    )

    def __post_init__(self) -> None:
        self.folder = self.folder.resolve()
        self._root = project_root(self.folder)

    def add_module(self, name: str, beside: Sequence[Path] = ()) -> None:
        """Add what a config names as handlers or hooks: a module, or a ``.py`` file beside it, or beside its
        further files, in the folders ``beside``."""
        self.trees[self._root] = None
        if name.endswith(".py"):
            for folder in (self.folder, *beside):
                self._name(name, folder)
        elif _MODULE.fullmatch(name):
            for folder in (self.folder, *self.works):
                self._module(name, folder)

    def add_command(self, words: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
        """Add what the command line ``words`` runs, started in ``cwd`` with the variables ``env``."""
        if not words:
            return
        try:
            written = Path(cwd or "").expanduser()
            base = (self.folder / written).resolve()
        except (OSError, RuntimeError, ValueError):  # no folder: nothing is started in it
            written, base = Path(), self.folder
        is_beside = not _below(base, self._root) and not written.is_absolute()
        is_code = is_beside or any(changes_code(name, value) for name, value in env.items())
        arguments = None if is_code else self._fetched(words)
        if arguments is None or not self._are_apart((*arguments, *env.values()), base):
            if is_beside:
                self.trees[base] = None
            self._add_tree(words, base, env)
        elif _program(words[0]) == "npx":
            self._npm(words, base, env)

    def contents(self) -> dict[str, str]:
        """The hashes of all these files, by what they are called from the folder of the config."""
        return _Listing(self).hashes() if self.trees or self.named else {}

    def _add_tree(self, words: Sequence[str], base: Path, env: Mapping[str, str]) -> None:
        self.trees[self._root] = None
        self.bytecode = self.bytecode or not _keeps_bytecode_elsewhere(words, env)
        self._add_words(words, base)
        for name, value in env.items():
            is_code = changes_code(name, value)
            for part in re.split(r"[\s:;,=]+", value):
                self._name(part, base, as_data=not is_code)
            self._give(value if is_code else "")

    def _add_words(self, words: Sequence[str], base: Path, *, is_line: bool = False) -> None:
        """Add the files that ``words`` name, whatever they end in. Behind what is run, a script or a module,
        they are its arguments: those with endings of data are what it works on. In a line for a shell
        (``is_line``) no word is known to be that."""
        behind_script, before = False, ""
        for place, word in enumerate(words):
            for part in (word, *_parts(word)):
                self._name(part, base, as_data=behind_script)
            self._give("" if behind_script else word)
            if before == "-m" and _MODULE.fullmatch(word):
                self._module(word, base)
            if re.search(r"[\s;&|]", word):
                self._add_words(words_of(re.sub(r"[;&|()<>]+", " ", word)), base, is_line=True)
            elif not is_line and not word.startswith("-") and self._is_script(word, before, base):
                behind_script = behind_script or not place or bool(_INTERPRETER.fullmatch(_program(words[0])))
            before = word

    def _give(self, word: str) -> None:
        self.given += f"{word}\0"
        self.data = self.data or not _PLAIN.fullmatch(word)

    def _is_script(self, word: str, before: str, base: Path) -> bool:
        if before == "-m":
            return True
        has_value = before.startswith("-") and before not in _VALUELESS and "=" not in before
        name = Path(word).name
        return (
            not has_value
            and bool(_HAS_CODE.fullmatch(Path(name).suffix))
            and not is_data(name)
            and (base / word).is_file()
        )

    def _module(self, name: str, base: Path) -> None:
        for parent in ("", "src"):
            path = Path(parent, *name.split("."))
            packages = [each for each in (path, *path.parents) if each not in (Path(), Path(parent))]
            files = (f"{path}.py", path / "__main__.py", *(each / "__init__.py" for each in packages))
            for each in (path, *files):
                self._name(str(each), base)

    def _name(self, word: str, base: Path, *, as_data: bool = False) -> None:
        """Add the file or the folder that ``word`` names, if it belongs to what came with the config."""
        if not word or len(word) > _LONGEST_WORD or "\0" in word:
            return
        try:
            path = base / Path(word).expanduser()
            found, real = path.stat(), path.resolve()
        except (OSError, RuntimeError, ValueError):
            return  # no path
        is_whole = Path(word).is_absolute() or word.startswith("~")
        lexical = Path(os.path.normpath(path))
        ours = (self._root, *self.works)
        if is_whole and not any(_below(each, root) for each in (real, lexical) for root in ours):
            return
        is_folder = stat.S_ISDIR(found.st_mode)
        if not is_folder and not (as_data and is_data(word, found.st_mode)):
            self.named[os.path.relpath(lexical, self.folder)] = path
        above = real if is_folder else real.parent
        if _below(self._root, above) and is_folder:
            return  # a folder above: what a program works on
        if not _below(above, self._root):
            if not as_data and not _leads_elsewhere(path) and not is_home(above):
                self.trees[above] = None
        elif _is_passed_over(above.relative_to(self._root).parts):
            self.trees[above] = None

    def _fetched(self, words: Sequence[str]) -> Sequence[str] | None:
        """The words with which ``words`` fetch a package or an image, and those that it is given; ``None``
        where they may run anything else."""
        program = Path(words[0])
        has_folder = not {os.sep, os.altsep}.isdisjoint(words[0])
        if has_folder and (not program.is_absolute() or _below(program.resolve(), self._root)):
            return None
        launcher = _LAUNCHERS.get(_program(words[0]))
        start = 1 + len(launcher.before if launcher else ())
        if launcher is None or tuple(words[1:start]) != launcher.before:
            return None
        rest, values = [*words[start:]], list[str]()
        while rest and rest[0].startswith("-"):
            option, equals, value = rest.pop(0).partition("=")
            pattern = launcher.options.get(option, launcher)
            if pattern is None and not equals:
                continue
            if not isinstance(pattern, re.Pattern) or not (equals or rest):
                return None
            values.append(value if equals else rest.pop(0))
            if not pattern.fullmatch(values[-1]):
                return None
        if not rest or not launcher.package.fullmatch(rest[0]):
            return None
        return rest[:1] if not values and _TAKE_DATA.fullmatch(rest[0]) else (*values, *rest)

    def _are_apart(self, words: Iterable[str], base: Path) -> bool:
        """Whether ``words`` can name nothing that came with the config but files of data, which are added."""
        parts: dict[str, None] = {}
        for word in words:
            if word.startswith(("-m", "-c")) or len(word) > _LONGEST_WORD or _UNTOLD.search(word):
                return False
            parts |= _possible_paths(word)
        if len(parts) > _MOST_PARTS:
            return False
        found = [path for part in parts for path in self._there(part, base)]
        if not all(path.is_file() and is_data(path.name, path.stat().st_mode) for path in found):
            return False
        for path in found:
            self._name(str(path), base)
        return True

    def _there(self, part: str, base: Path) -> list[Path]:
        """What is there of all that ``part`` may name: a path, also without its ending or with a pattern in
        it, or a module; in the folder that the command is started in and those above, and in their ``src``.
        """
        found: list[Path] = []
        for each in (base, *base.parents):
            if each != base and not _below(each, self._root):
                break
            try:
                found += [*self._there_in(each, part), *self._there_in(each / "src", part)]
            except (OSError, RuntimeError, ValueError):
                continue  # no path
        is_whole = Path(part).is_absolute() or part.startswith("~")
        return [each for each in found if not is_whole or self._belongs(each)]

    def _there_in(self, folder: Path, part: str) -> Iterator[Path]:
        path = folder / Path(part).expanduser()
        for each in dict.fromkeys((path, Path(os.path.normpath(path)))):
            if os.path.lexists(each):
                yield each
            else:
                yield from self._alike(each.parent, each.name)
                if _MODULE.fullmatch(part):
                    yield from self._alike(folder, part.partition(".")[0])
        if pattern := re.search(r"[*?\[{]", part):
            start = folder / Path(f"{part[: pattern.start()]}x").expanduser()
            yield from self._alike(start.parent, start.name[:-1], is_start=True)

    def _alike(self, folder: Path, name: str, *, is_start: bool = False) -> Iterator[Path]:
        """What ``folder`` has that is called ``name``, with any ending, or begins so."""
        if folder not in self._listed:
            try:
                self._listed[folder] = [(_spelled(each), each) for each in os.listdir(folder)]  # noqa: PTH208
            except OSError:
                self._listed[folder] = []
        start = _spelled(name)
        for spelled, there in self._listed[folder]:
            if spelled.startswith(start) and (is_start or spelled[len(start) :][:1] in ("", ".")):
                yield folder / there

    def _belongs(self, path: Path) -> bool:
        """Whether ``path`` lies in what came with the config, or holds it."""
        return any(
            _below(each, self._root) or _below(self._root, each)
            for each in (path.resolve(), Path(os.path.normpath(path)))
        )

    def _npm(self, words: Sequence[str], base: Path, env: Mapping[str, str]) -> None:
        """Add what npx reads of the folders from ``base`` up: it may replace the package. Where they have
        settings of npm, or a package that brings programs, anything may be run."""
        for folder in (base, *base.parents):
            if not _below(folder, self._root):
                return
            path = folder / "package.json"
            project: Any = _data(path) if os.path.lexists(path) else {}
            if (
                os.path.lexists(folder / ".npmrc")
                or not isinstance(project, dict)
                or not {"bin", "directories", "workspaces"}.isdisjoint(cast("dict[str, Any]", project))
            ):
                self._add_tree(words, base, env)
                return
            for name in _NPM_FILES:
                self._name(str(folder / name), base)
            if os.path.lexists(folder / "node_modules"):
                self.trees[folder / "node_modules"] = None


class _Listing:
    """The files of a ``FolderCode``, by name, as they are listed on the disk."""

    def __init__(self, code: FolderCode) -> None:
        self._code = code
        self._files: dict[str, tuple[str, os.stat_result]] = {}
        self._found: dict[str, str] = {}
        self._entered: set[tuple[int, int]] = set()
        self._seen = 0
        tops = [each for each in code.trees if not self._is_within_another(each)]
        self._tops = [str(each) for each in tops]
        self._ours = {str(code.folder / name) for name in _OURS}
        for top in tops:
            self._list(str(top), "" if top == code.folder else f"{os.path.relpath(top, code.folder)}/")

    def hashes(self) -> dict[str, str]:
        """One hash for each file, and for what is beyond what is compared so one for each folder."""
        left_files, left_bytes = MOST_FILES, MOST_BYTES
        for name, path in self._code.named.items():
            self._files.pop(name, None)
            self._found |= hash_file(path, name)
        groups: dict[str, list[str]] = {}
        for name in self._files:
            top = _TOP.match(name)
            groups.setdefault(top[1] if top else "", []).append(name)
        sizes = {
            folder: sum(self._files[name][1].st_size for name in names) for folder, names in groups.items()
        }
        for folder in sorted(groups, key=lambda each: (each != "", len(groups[each]), sizes[each], each)):
            names = groups[folder]
            if len(names) > left_files or sizes[folder] > left_bytes:
                self._found[f"folder {folder or '.'} (its files' sizes and times)"] = self._fingerprint(names)
                continue
            left_files, left_bytes = left_files - len(names), left_bytes - sizes[folder]
            for name in names:
                self._found |= _hashed(f"file {name}", *self._files[name])
        return self._found

    def _fingerprint(self, names: Iterable[str]) -> str:
        whole = hashlib.sha256()
        for name in sorted(names):
            whole.update(f"{name}\0{_marks(self._files[name][1])}\0".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()

    def _is_within_another(self, top: Path) -> bool:
        return any(
            other != top and _below(top, other) and not _is_passed_over(top.relative_to(other).parts)
            for other in self._code.trees
        )

    def _list(self, top: str, prefix: str) -> None:
        entering = [(top, prefix)]
        while entering:
            folder, name = entering.pop()
            name = "" if folder == str(self._code.folder) else name
            try:
                found = os.stat(folder)  # noqa: PTH116 (a third of the time, in large trees)
                if (place := (found.st_dev, found.st_ino)) in self._entered:
                    continue
                self._entered.add(place)
                with os.scandir(folder) as entries:
                    for entry in entries:
                        self._seen += 1
                        entering += self._add(entry, name)
            except OSError as error:
                self._found[f"folder {name.rstrip('/') or '.'} (it cannot be read)"] = str(error.errno)
            if self._seen > MOST_LISTED:
                why = f"more than {MOST_LISTED:,} files, so it is asked about each time"
                self._found[f"folder {prefix.rstrip('/') or '.'} ({why})"] = secrets.token_hex()
                return

    def _add(self, entry: os.DirEntry[str], above: str) -> Iterator[tuple[str, str]]:
        """Add the file ``entry`` of the folder called ``above``; gives folders to go on with."""
        name = f"{above}{entry.name}"
        if entry.is_symlink():
            yield from self._add_link(entry, name)
        elif entry.is_dir(follow_symlinks=False):
            if not _passes_over(entry):
                yield entry.path, f"{name}/"
        elif entry.is_file(follow_symlinks=False):
            if entry.path in self._ours or entry.name == ".git":
                return
            if above.endswith("__pycache__/") and not self._code.bytecode and _COMPILED.fullmatch(entry.name):
                return
            found = entry.stat(follow_symlinks=False)
            if self._counts(name, entry.name, found):
                self._files[name] = entry.path, found

    def _counts(self, path: str, name: str, found: os.stat_result) -> bool:
        return self._code.data or name in self._code.given or not is_data(path, found.st_mode)

    def _add_link(self, entry: os.DirEntry[str], name: str) -> Iterator[tuple[str, str]]:
        """A link counts by where it leads, and by what is there, if that is not in the tree itself."""
        path = Path(entry.path)
        try:
            leads = path.readlink()
            self._found[f"link {name}"] = digest(os.fsencode(leads))
            real, found = os.path.realpath(path), path.stat()
        except OSError:
            return  # it leads nowhere
        if stat.S_ISREG(found.st_mode):
            if self._counts(name, entry.name, found):
                self._files[name] = real, found
        elif stat.S_ISDIR(found.st_mode) and not (leads.is_absolute() or self._is_listed(real)):
            yield real, f"{name}/"

    def _is_listed(self, real: str) -> bool:
        return any(
            _below(Path(real), Path(top)) and not _is_passed_over(Path(real).relative_to(top).parts)
            for top in self._tops
        )


def words_of(command: str) -> list[str]:
    """The words of a command line."""
    import shlex

    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


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


def is_data(name: str, mode: int = 0) -> bool:
    """Whether a file of this name, and with this ``mode``, is data."""
    ending = f".{name.rpartition('.')[2].lower()}"
    return ending in _DATA and not mode & 0o111 and not _NAMES_PACKAGES.search(name)


def _passes_over(entry: os.DirEntry[str]) -> bool:
    return entry.name == ".git" or (entry.name == STATE_FOLDER and not why_not_ours(Path(entry.path)))


def _is_passed_over(parts: Sequence[str]) -> bool:
    return not {".git", STATE_FOLDER}.isdisjoint(parts)


def _program(word: str) -> str:
    return re.sub(r"\.(?:exe|cmd)$", "", Path(word).name.lower())


def _keeps_bytecode_elsewhere(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a program is Python, and heeds the variable that has it keep compiled modules elsewhere."""
    name = Path(words[0]).name.lower()
    return (
        (name.startswith("python") or name in ("uv", "uv.exe"))
        and "PYTHONPYCACHEPREFIX" not in map(str.upper, env)
        and not any(_HIDES_PREFIX.fullmatch(word) for word in words[1:])
    )


def _leads_elsewhere(path: Path) -> bool:
    """Whether ``path`` is a link, perhaps to further links, one of which is written as a whole path: that
    leads to what is on this machine anyway, such as an interpreter."""
    for _ in range(40):
        if not path.is_symlink():
            return False
        leads = path.readlink()
        if leads.is_absolute():
            return True
        path = path.parent / leads
    return False


def _hashed(label: str, path: str, found: os.stat_result) -> dict[str, str]:
    if not stat.S_ISREG(found.st_mode):
        return {f"{label} (not a regular file)": str(stat.S_IFMT(found.st_mode))}
    if found.st_size > MOST_BYTES:
        return {f"{label} (its size and times)": _marks(found)}
    try:
        with open_regular(path) as file:
            return {label: hashlib.file_digest(file, "sha256").hexdigest()}
    except (OSError, ValueError):
        return {f"{label} (it cannot be read)": _marks(found)}


def _marks(found: os.stat_result) -> str:
    """What changes when a file does: also its status' time, which nobody can set."""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino} {found.st_mode}"


def _parts(word: str) -> list[str]:
    """The parts of a word such as ``--option=FILE`` or ``FILE:NAME`` that may be paths."""
    return [part for part in re.split(r"[:=,]", word) if part] if re.search(r"[:=,]", word) else []


def _possible_paths(word: str) -> dict[str, None]:
    """Every part of ``word`` that may be a path: all of it, what is behind each mark in it, what is between
    marks, and what is behind an option of one letter."""
    marks = r"[\s:;,=@|&()<>'\"`]+"
    found = [word, *re.split(marks, word), *(word[mark.end() :] for mark in re.finditer(marks, word))]
    found += [word[2:]] if re.match(r"-[A-Za-z]", word) else []
    return dict.fromkeys(part for part in found if part)


def _spelled(name: str) -> str:
    """``name`` as those are alike that a disk or a package manager takes for one."""
    return name.casefold().replace("-", "_")


def _below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


def _data(path: Path) -> Any:
    """The JSON in the file ``path``; ``None`` where there is none."""
    import json

    try:
        return json.loads(read_regular(path, _MOST_DATA))
    except (OSError, ValueError, RecursionError):
        return None
