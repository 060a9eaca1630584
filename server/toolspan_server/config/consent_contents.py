"""What an item that a person is asked about consists of, as hashes by name: so that a change is noticed and
named. Values of variables are never part of them, the names of variables are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ..common.modules.bytecode import project_root
from ..schema.keys import is_inside_folder
from .code_files import hash_file, is_data, texts_in, tree_files
from .config_file import SERVER_KEYS
from .models.config import Config
from .models.original import digest
from .raw_data import entries, inside

_LONGEST_PATH = 1_000
_MOCK = "mock"
_WORDS = frozenset(
    (
        *("$schema", "instructions", "examples", "description", "title", "display_name"),
        *("icons", "tags", "category", "deprecated"),
    )
)
"""Keys that only say what something is."""

_INSTALLED = frozenset(("site-packages", "dist-packages"))


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


def named_files(config: Config, *keys: str | int) -> dict[str, str]:
    """The hash of each file in the config's folder that a text under ``keys`` of the config names, but for
    files of data: what a tool works on changes with its use."""
    found: dict[str, str] = {}
    for text in _texts_inside(written_entry(config, *keys), config.directory):
        found |= {} if is_data(text) else hash_file(config.directory / text, text)
    return found


def _texts_inside(value: Any, folder: Path) -> Iterator[str]:
    for text in texts_in(value):
        if text and len(text) < _LONGEST_PATH and is_inside_folder(text, folder):
            yield text


def settings_contents(config: Config) -> dict[str, str]:
    """The hash of each setting of the config, without the words about it and its tools, and of each file that
    its mocks answer with: a pipeline, a hook or a handler may pass an answer on to a tool that acts."""
    found = _answers(config)
    for original in config.originals:
        data = original.data
        for key, value in cast("dict[str, Any]", data).items() if isinstance(data, dict) else ():
            if key not in _WORDS:
                found[f"setting {key}"] = _hash(_without_words(value) if key == "tools" else value)
    return found


def without_words(tool: Any) -> Any:
    """A raw ``tool`` without the keys that only describe it."""
    if not isinstance(tool, dict):
        return tool
    return {key: value for key, value in cast("dict[str, Any]", tool).items() if key not in _WORDS}


def _without_words(tools: Any) -> Any:
    if not isinstance(tools, dict):
        return tools
    kept = [without_words(tool) for tool in entries(inside(tools, "registry"))]
    return {**cast("dict[str, Any]", tools), "registry": kept}


def _answers(config: Config) -> dict[str, str]:
    found: dict[str, str] = {}
    for implementation in _implementations(config):
        if inside(implementation, "type") in (_MOCK, None):
            for text in _texts_inside(implementation, config.directory):
                found |= hash_file(config.directory / text, text)
    return found


def _implementations(config: Config) -> list[Any]:
    registries = (entries(inside(original.data, "tools", "registry")) for original in config.originals)
    return [inside(tool, "implementation") for registry in registries for tool in registry]


def code_contents(config: Config, name: str) -> dict[str, str]:
    """The hash of the module, or of the ``.py`` file, that the config names for handlers or hooks."""
    if not name.endswith(".py"):
        return module_contents(name, config.directory)
    for original in config.originals:
        for texts in (original.handlers, original.hooks):
            if name in texts:
                return {f"file {name}": digest(texts[name])}
    return hash_file(config.directory / name, name)


def module_contents(name: str, folder: Path | None = None) -> dict[str, str]:
    """The hash of the module ``name``; of one that comes neither from an installed package nor from what came
    with ``folder``, of all files beside it too."""
    from ..common.modules.sources import found_spec

    try:
        spec = found_spec(name)
    except (ImportError, ValueError):
        return {}
    if spec.origin is None or not (path := Path(spec.origin)).is_file():
        return {}
    own = hash_file(path, name)
    is_within = folder is not None and path.resolve().is_relative_to(project_root(folder))
    if is_within or not _INSTALLED.isdisjoint(path.parts) or path.is_relative_to(sys.base_prefix):
        return own
    return {**own, **tree_files(path.parent)}


def installed_handler(name: Any) -> dict[str, str]:
    """The modules of packages that offer a handler called ``name``."""
    if not isinstance(name, str):
        return {}
    from importlib.metadata import entry_points

    found: dict[str, str] = {}
    for entry in entry_points(group="toolspan.handlers", name=name):
        found |= module_contents(entry.module)
    return found


def tools_contents(config: Config) -> dict[str, str]:
    """One hash of what the config's tools do with its handlers and services, and of what mocks give them."""
    used = _implementations(config)
    used += [inside(original.data, "tools", "sources") for original in config.originals]
    return {"tools": _hash(used), **source_files(config)}


def source_files(config: Config) -> dict[str, str]:
    """The hash of each file that a source of tools names, as a description of an API with its servers."""
    found: dict[str, str] = {}
    for original in config.originals:
        for source in entries(inside(original.data, "tools", "sources")):
            for name in cast("dict[str, Any]", source).values() if isinstance(source, dict) else ():
                if isinstance(name, str) and name:
                    found |= hash_file(original.path.parent / name, name)
    return found


def _hash(value: Any) -> str:
    return digest(json.dumps(value, sort_keys=True, default=str).encode())
