"""A config file's text as data, with the position of every key and value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from ..common.regular_files import NotRegularError, open_regular
from ..errors import ConfigError
from ..problems import (
    Fault,
    Path,
    Problem,
    json_path,
)
from .json_text import json_tree, read_json
from .syntax_trees import Lines, Node, SyntaxFault

SIZE_LIMIT = 4 * 1024 * 1024
"""The largest config file, in bytes."""


@dataclass
class Document:
    """One parsed file. ``data`` holds plain JSON values; ``faults`` the errors that parsing could recover
    from.
    """

    file: str
    text: str
    data: Any
    tree: Node | None
    faults: list[Fault]

    @cached_property
    def _tree(self) -> Node:
        return self.tree or json_tree(self.text)[0]

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def problem(self, fault: Fault) -> Problem:
        """``fault`` with the position of its key or value, or of the nearest parent when that is missing."""
        line, column = self._lines.place(self.offset(fault))
        return Problem(self.file, line, column, json_path(fault.path), fault.message, fault.hint)

    def offset(self, fault: Fault) -> int:
        """The offset in the text of the key or value at ``path``, or of its nearest parent."""
        if fault.offset is not None:
            return fault.offset
        node = self._tree
        for part in fault.path:
            child = node.children.get(part)
            if child is None:
                break
            node = child
        return node.key if fault.on_key else node.start

    def problems(self, faults: Iterable[Fault]) -> list[Problem]:
        """``problem`` for each of ``faults``."""
        return [self.problem(fault) for fault in faults]

    def place(self, path: Path, *, on_key: bool = False) -> str:
        """``file:line:column`` of the value (or key) at ``path``."""
        problem = self.problem(Fault(path, "", on_key=on_key))
        return f"{problem.file}:{problem.line}:{problem.column}"


def read_document(path: FilePath, shown: str, raw: bytes | None = None) -> Document:
    """Read and parse ``path``, called ``shown`` in messages, or ``raw`` as its content. Raises
    ``ConfigError``.

    ``.json`` is JSON, ``.yaml`` and ``.yml`` YAML; with another ending a file that starts with ``{`` is JSON.
    """
    return parse_document(_text(_read_bytes(path, shown) if raw is None else raw, shown), shown)


def parse_document(text: str, shown: str, *, any_keys: bool = False) -> Document:
    """``text``, the content of the file ``shown``, as a document. Raises ``ConfigError``.

    With ``any_keys`` a key of YAML that is no text, as ``200``, is no fault, but the text that is written.
    """
    suffix = FilePath(shown).suffix.lower()
    is_json = suffix == ".json" or (suffix not in (".yaml", ".yml") and text.lstrip().startswith("{"))
    try:
        if not text.strip():
            raise SyntaxFault(0, "the file is empty", "write a config, such as tools: {registry: []}")
        data, tree, faults = read_json(text) if is_json else _read_yaml(text, any_keys)
    except SyntaxFault as fault:
        line, column = Lines(text).place(fault.offset)
        problem = Problem(shown, line, column, json_path(fault.path), fault.message, fault.hint)
        raise ConfigError([problem]) from None
    return Document(shown, text, data, tree, faults)


def _read_yaml(text: str, any_keys: bool) -> tuple[Any, Node | None, list[Fault]]:
    from .yaml_text import read_yaml

    return read_yaml(text, any_keys=any_keys)


def _text(raw: bytes, shown: str) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _unusable(shown, "the file is UTF-16", "save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8")
        line, column = Lines(before).place(len(before))
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise ConfigError([Problem(shown, line, column, "$", message, "save the file as UTF-8")]) from None
    if (offset := text.find("\0")) >= 0:
        line, column = Lines(text).place(offset)
        raise ConfigError([Problem(shown, line, column, "$", "a NUL character", "remove it")])
    return text


def _read_bytes(path: FilePath, shown: str) -> bytes:
    try:
        with open_regular(path) as file:
            raw = file.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise _unusable(shown, "there is no such file", "check the path") from None
    except IsADirectoryError:
        raise _unusable(shown, "this is a directory", "name a file in it") from None
    except NotRegularError:
        raise _unusable(shown, "this is not a regular file", "name a file of YAML or JSON") from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise _unusable(
            shown, f"the file cannot be read: {reason}", "check the path and its permissions"
        ) from None
    except ValueError:
        raise _unusable(shown, "this is not a path", "check the path") from None
    if len(raw) > SIZE_LIMIT:
        raise _unusable(shown, "the file is larger than 4 MiB", "split it: several config files may be given")
    return raw


def _unusable(shown: str, message: str, hint: str) -> ConfigError:
    return ConfigError([Problem(shown, 0, 0, "", message, hint)])
