"""What an item that a person is asked about consists of, as hashes by name: so that a change is noticed and
named. Values of variables are never part of them, the names of variables are.

Of code, the hashes are of what a command line names in the folder, of the modules of handlers, and of the
modules beside them that these import. What such code loads in other ways is its own affair.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from .config_file import SERVER_KEYS
from .models.config import Config
from .models.original import Original, digest
from .raw_data import entries, inside

_PROGRAMS = (
    *(".bat", ".cjs", ".cmd", ".exe", ".jar", ".js", ".lua", ".mjs", ".php", ".pl", ".ps1", ".py", ".rb"),
    *(".sh", ".ts"),
)
_MAX_FILES = 200
_MAX_BYTES = 16 * 1024 * 1024
_MOCK = "mock"


def entry_contents(entry: Any) -> dict[str, str]:
    """The hash of each key of a raw ``entry``; of keys with objects, such as ``env``, of each key in them."""
    if not isinstance(entry, dict):
        return {"value": _hash(entry)}
    found: dict[str, str] = {}
    for key, value in cast("dict[str, Any]", entry).items():
        if isinstance(value, dict) and value:
            inner = cast("dict[str, Any]", value)
            found |= {f"{key} {name}": _hash(part) for name, part in inner.items()}
        else:
            found[str(key)] = _hash(value)
    return found


def written_entry(config: Config, *keys: str | int) -> Any:
    """The value under ``keys`` as the files of ``config`` write it; ``None`` when there is none."""
    spellings = SERVER_KEYS if keys[0] == "mcpServers" else keys[:1]
    found = (inside(original.data, key, *keys[1:]) for original in config.originals for key in spellings)
    return next((value for value in found if value is not None), None)


def program_files(words: Iterable[str], folder: Path, cwd: str | None = None) -> dict[str, str]:
    """The hash of each program in ``folder`` that ``words`` of a command line, run in ``cwd``, name."""
    root, found = folder.resolve(), dict[str, str]()
    for word in words:
        try:
            path = (folder / (cwd or "") / word).resolve()
            if not path.is_relative_to(root) or not path.is_file():
                continue
            if path.suffix.lower() in _PROGRAMS or path.stat().st_mode & 0o111:
                found[f"file {path.relative_to(root)}"] = _file_hash(path)
        except (OSError, ValueError):
            continue  # no path, or none that can be read
    return found


def handler_contents(config: Config, name: str) -> dict[str, str]:
    """The hashes of a handlers' module and, of a ``.py`` file, of the files beside it that it imports."""
    return _code_contents(name, [(each, each.handlers) for each in config.originals])


def hook_contents(config: Config, written: str) -> dict[str, str]:
    """The same of the module or file of a hook, ``MODULE:NAME`` or ``FILE.py:NAME``."""
    name = written.rpartition(":")[0]
    return _code_contents(name, [(each, each.hooks) for each in config.originals]) if name else {}


def _code_contents(name: str, files: Iterable[tuple[Original, Mapping[str, bytes]]]) -> dict[str, str]:
    if not name.endswith(".py"):
        from ..common.modules.sources import source_of

        try:
            source = source_of(name)
        except ModuleNotFoundError:
            return {}
        return {} if source is None else {f"module {name}": digest(source)}
    for original, texts in files:
        if name in texts:
            text = texts[name]
            return {f"file {name}": digest(text), **_imported(original, name, text)}
    return {}


def tools_contents(config: Config) -> dict[str, str]:
    """One hash of what the config's tools do with its handlers and services."""
    used: list[Any] = []
    for original in config.originals:
        made = [
            inside(each, "implementation") for each in entries(inside(original.data, "tools", "registry"))
        ]
        used += [each for each in made if inside(each, "type") != _MOCK]
        used.append(inside(original.data, "tools", "sources"))
    return {"tools": _hash(used), **source_files(config)}


def source_files(config: Config) -> dict[str, str]:
    """The hash of each file that a source of tools names, as a description of an API with its servers."""
    found: dict[str, str] = {}
    for original in config.originals:
        for source in entries(inside(original.data, "tools", "sources")):
            for name in cast("dict[str, Any]", source).values() if isinstance(source, dict) else ():
                path = original.path.parent / name if isinstance(name, str) and name else None
                if path is not None and is_file(path):
                    found[f"file {name}"] = _file_hash(path)
    return found


def is_file(path: Path) -> bool:
    """Whether ``path`` is a regular file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # no path at all


def words_of(command: str) -> list[str]:
    """The words of a command line."""
    import shlex

    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _imported(original: Original, name: str, text: bytes) -> dict[str, str]:
    """The hashes of the modules beside a handlers' file that it imports, and that these import."""
    folder = (original.path.parent / name).parent
    found: dict[str, str] = {}
    waiting, seen = [text], {(original.path.parent / name).resolve()}
    while waiting and len(found) < _MAX_FILES:
        for path in _beside(waiting.pop(), folder):
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            try:
                source = path.read_bytes()
            except OSError:
                continue
            found[f"file {path.relative_to(folder)}"] = digest(source)
            waiting.append(source)
    return found


def _beside(text: bytes, folder: Path) -> Iterator[Path]:
    """The files in ``folder`` that the imports of a module lead to; of a package, all of its modules."""
    for name in sorted(_imports(text)):
        if (module := folder / f"{name}.py").is_file():
            yield module
        if (folder / name).is_dir():
            yield from sorted((folder / name).rglob("*.py"))[:_MAX_FILES]


def _imports(text: bytes) -> set[str]:
    """The first parts of the names of modules that ``text`` imports."""
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    size = path.stat().st_size if len(data) > _MAX_BYTES else len(data)
    return digest(b"%d " % size + data)


def _hash(value: Any) -> str:
    return digest(json.dumps(value, sort_keys=True, default=str).encode())
