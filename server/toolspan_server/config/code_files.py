"""The files that a found config's programs and handlers may consist of, as hashes by name.

Which files an interpreter loads is not guessed. What runs something of a config's folder is bound to the
whole tree that came with it: to every file but those of kinds that no interpreter loads by itself
(``_DATA``). Only programs on a short list, which run a package named in their arguments and nothing of the
folder (``_LAUNCHERS``), are not. No file is left out because of its content.
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
from .raw_data import inside

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

_ALONE = frozenset((".json", ".jsonc", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".xml", ".env"))
"""Endings of files that load no others beside them."""

_VALUELESS = frozenset(
    (
        *("-u", "-B", "-s", "-O", "-OO", "-q", "-v", "-P", "--", "--enable-source-maps", "--no-warnings"),
        *("--experimental-strip-types", "--trace-warnings", "-A", "--allow-all", "--no-sync", "--frozen"),
        *("--quiet", "--offline", "--locked"),
    )
)
"""Options of interpreters that have no value: the word after them can be what is run."""

_HIDES_PREFIX = re.compile(r"-[A-DF-HJ-WYZa-z]*+[EIX].*")
_HAS_CODE = re.compile(r"\.[A-Za-z]\w*")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_TOP = re.compile(r"((?:\.\./)*[^/]+)/")
_LONGEST_WORD = 4_096
_MOST_DATA = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Launcher:
    """A program that fetches the package or image that is named in its arguments, and runs that.

    ``before`` are the words that have it do so; ``bare`` and ``valued`` the options that change nothing;
    ``packages`` those whose value is a package too; ``mounts`` those whose value names a folder of this
    machine. With any other option it counts as running the folder.
    """

    package: re.Pattern[str]
    before: tuple[str, ...] = ()
    bare: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    mounts: frozenset[str] = frozenset()


_PYPI = re.compile(r"(?!python)[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:(?:@|[=~<>!]=?=?)[\w.*+!-]+)?")
_NPM = re.compile(r"\A(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[\w.~-]+/)?[A-Za-z0-9][\w.~-]*(?:@[\w.^~*+-]+)?")
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]*")
_UVX = _Launcher(
    _PYPI,
    bare=frozenset(
        ("-q", "--quiet", "-v", "--verbose", "--isolated", "--offline", "-n", "--no-cache", "--refresh")
    ),
    valued=frozenset(
        ("--index", "--default-index", "--index-url", "-i", "--extra-index-url", "--prerelease")
    ),
    packages=frozenset(("--from", "--with", "-w", "-p", "--python")),
)
_CONTAINER = _Launcher(
    _IMAGE,
    ("run",),
    frozenset(("-i", "-t", "-it", "-ti", "--interactive", "--tty", "--rm", "--init", "--read-only")),
    frozenset(
        (
            *("-e", "--env", "--name", "--network", "--net", "-p", "--publish", "--memory", "-m", "--cpus"),
            *("--pull", "--platform", "-u", "--user", "-w", "--workdir", "--add-host", "--label", "-l"),
        )
    ),
    mounts=frozenset(("-v", "--volume", "--mount")),
)
_LAUNCHERS: Mapping[str, tuple[_Launcher, ...]] = {
    # uv reads no settings of the project for tools, and a tool's program has its own folder first on its path
    "uvx": (_UVX,),
    "uv": (_Launcher(_PYPI, ("tool", "run"), _UVX.bare, _UVX.valued, _UVX.packages),),
    # pipx runs what it installed in an environment of its own
    "pipx": (
        _Launcher(
            _PYPI,
            ("run",),
            frozenset(("--no-cache", "--verbose")),
            frozenset(("--index-url", "-i")),
            frozenset(("--spec",)),
        ),
    ),
    # npx prefers packages of node_modules, and obeys package.json and .npmrc: these are compared (``_npm``)
    "npx": (
        _Launcher(
            _NPM, (), frozenset(("-y", "--yes", "-q", "--quiet")), packages=frozenset(("-p", "--package"))
        ),
    ),
    # a container has the files of its image, and of the folders that are mounted in it
    "docker": (_CONTAINER,),
    "podman": (_CONTAINER,),
}
_NPM_FILES = ("package.json", ".npmrc", "package-lock.json", "npm-shrinkwrap.json")


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
    name; those in the folders ``works`` count as if they had come with it. ``bytecode``: whether compiled
    modules in ``__pycache__`` may be run.
    """

    folder: Path
    works: Sequence[Path] = ()
    trees: dict[Path, None] = field(default_factory=dict[Path, None])
    named: dict[str, Path] = field(default_factory=dict[str, Path])
    bytecode: bool = False

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
        is_code = any(changes_code(name, value) for name, value in env.items())
        arguments = None if is_code else self._launched(words, base)
        if arguments is None or not self._are_data(arguments, base):
            if not _below(base, self._root) and not written.is_absolute():
                self.trees[base] = None
            self._add_tree(words, base, env)
        elif Path(words[0]).stem.lower() == "npx":
            self._npm(words, base, env)

    def contents(self) -> dict[str, str]:
        """The hashes of all these files, by what they are called from the folder of the config."""
        return _Listing(self).hashes() if self.trees or self.named else {}

    def _add_tree(self, words: Sequence[str], base: Path, env: Mapping[str, str]) -> None:
        self.trees[self._root] = None
        self.bytecode = self.bytecode or not _keeps_bytecode_elsewhere(words, env)
        self._add_words(words, base)
        for name, value in env.items():
            for part in re.split(r"[\s:;,=]+", value):
                self._name(part, base, as_data=not changes_code(name, value))

    def _add_words(self, words: Sequence[str], base: Path, *, is_line: bool = False) -> None:
        """Add the files that ``words`` name, whatever they end in. Behind what is run, a script or a module,
        they are its arguments: those with endings of data are what it works on. In a line for a shell
        (``is_line``) no word is known to be that."""
        behind_script, before = False, ""
        for place, word in enumerate(words):
            for part in (word, *_parts(word)):
                self._name(part, base, as_data=behind_script)
            if before == "-m" and _MODULE.fullmatch(word):
                self._module(word, base)
            if re.search(r"[\s;&|]", word):
                self._add_words(words_of(re.sub(r"[;&|()<>]+", " ", word)), base, is_line=True)
            elif not is_line and not word.startswith("-") and self._is_script(word, before, base, place):
                behind_script = True
            before = word

    def _is_script(self, word: str, before: str, base: Path, place: int) -> bool:
        if before == "-m" and place:
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

    def _launched(self, words: Sequence[str], base: Path) -> Sequence[str] | None:
        """The arguments of the package that ``words`` run; ``None`` where they may run anything else."""
        program = Path(words[0])
        has_folder = not {os.sep, os.altsep}.isdisjoint(words[0])
        if has_folder and (not program.is_absolute() or _below(program.resolve(), self._root)):
            return None
        for launcher in _LAUNCHERS.get(re.sub(r"\.(?:exe|cmd)$", "", program.name.lower()), ()):
            start = 1 + len(launcher.before)
            if tuple(words[1:start]) == launcher.before:
                return self._package(launcher, words[start:], base)
        return None

    def _package(self, launcher: _Launcher, words: Sequence[str], base: Path) -> Sequence[str] | None:
        rest = [*words]
        is_named = False
        while rest and rest[0].startswith("-"):
            option, equals, value = rest.pop(0).partition("=")
            if option in launcher.bare and not equals:
                continue
            if option not in launcher.valued | launcher.packages | launcher.mounts or not (equals or rest):
                return None
            value = value if equals else rest.pop(0)
            if option in launcher.packages:
                if not launcher.package.fullmatch(value):
                    return None
                is_named = True
            if option in launcher.mounts and any(self._is_here(part, base) for part in _parts(value)):
                return None
        if not rest or not launcher.package.fullmatch(rest[0]):
            return None
        return rest if is_named and launcher.package is _NPM else rest[1:]

    def _is_here(self, part: str, base: Path) -> bool:
        """Whether ``part`` of a mount may name something that came with the config."""
        if part.startswith((".", "~", "$")) or not part:
            return bool(part)
        try:
            real = (base / part).resolve()
            return real.exists() and (_below(real, self._root) or _below(self._root, real))
        except (OSError, RuntimeError, ValueError):
            return True

    def _are_data(self, arguments: Sequence[str], base: Path) -> bool:
        """Whether ``arguments`` of a package name no code of the folder. Files of settings are added."""
        for word in arguments:
            if word == "-m" or (re.search(r"\s", word) and not self._are_data(words_of(word), base)):
                return False
            for part in (word, *_parts(word)):
                try:
                    path = base / Path(part).expanduser()
                    is_file = path.is_file() and not is_data(part, path.stat().st_mode)
                    is_here = is_file and (not Path(part).is_absolute() or _below(path.resolve(), self._root))
                except (OSError, RuntimeError, ValueError):
                    continue
                if is_here and Path(part).suffix.lower() not in _ALONE:
                    return False
                if is_here:
                    self._name(part, base)
            if _is_module(word.partition(":")[0], base):
                return False
        return True

    def _npm(self, words: Sequence[str], base: Path, env: Mapping[str, str]) -> None:
        """Add what npx reads of the project that ``base`` lies in: it may replace the package."""
        for folder in (base, *base.parents):
            if not _below(folder, self._root):
                return
            there = [name for name in (*_NPM_FILES, "node_modules") if os.path.lexists(folder / name)]
            if not there:
                continue
            project = _data(folder / "package.json")
            tools = inside(project, "bin")
            own = {
                inside(project, "name"),
                *(cast("dict[str, Any]", tools) if isinstance(tools, dict) else ()),
            }
            called = {re.sub(r"(?<=.)@.*", "", word) for word in words}
            unread = project is None and "package.json" in there
            if (
                unread
                or inside(project, "workspaces") is not None
                or not own.isdisjoint(called | {name.rpartition("/")[2] for name in called})
            ):
                self._add_tree(words, base, env)
                return
            for name in there:
                self._name(str(folder / name), base)
            if "node_modules" in there:
                self.trees[folder / "node_modules"] = None
            return


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
            if not self._passes_over(entry):
                yield entry.path, f"{name}/"
        elif entry.is_file(follow_symlinks=False):
            if entry.path in self._ours or entry.name == ".git":
                return
            found = entry.stat(follow_symlinks=False)
            if not is_data(name, found.st_mode):
                self._files[name] = entry.path, found

    def _passes_over(self, entry: os.DirEntry[str]) -> bool:
        if entry.name == STATE_FOLDER:
            return not why_not_ours(Path(entry.path))
        return entry.name == ".git" or (entry.name == "__pycache__" and not self._code.bytecode)

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
            if not is_data(name, found.st_mode):
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


def _is_passed_over(parts: Sequence[str]) -> bool:
    return not {".git", STATE_FOLDER, "__pycache__"}.isdisjoint(parts)


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


def _below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


def _is_module(name: str, base: Path) -> bool:
    path = base.joinpath(*name.split("."))
    return bool(_MODULE.fullmatch(name)) and (
        path.with_name(f"{path.name}.py").is_file() or (path / "__init__.py").is_file()
    )


def _data(path: Path) -> Any:
    """The JSON in the file ``path``; ``None`` where there is none."""
    import json

    try:
        return json.loads(read_regular(path, _MOST_DATA))
    except (OSError, ValueError, RecursionError):
        return None
