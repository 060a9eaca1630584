"""The files of other programs, read as data with positions; nothing in them is run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolspan_server.common.regular_files import read_regular
from toolspan_server.config import ConfigError
from toolspan_server.problems import Problem
from toolspan_server.schema.positions import SIZE_LIMIT, Document, read_document

from ...errors import UsageError
from ...providers.wire.json_types import is_object

MOST_SCENARIOS = 10_000


def document(path: Path) -> Document:
    """The YAML or JSON file ``path``, an object. Raises ``ConfigError`` with file and line."""
    found = read_document(path, str(path))
    if found.faults:
        raise ConfigError(found.problems(found.faults))
    if not is_object(found.data):
        raise ConfigError([Problem(str(path), 1, 1, "$", "this is no object with keys", "name another file")])
    return found


def records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSON list or of JSON lines in ``path``, each with its place (``file:line``).

    Raises ``UsageError`` with file and line for what is no such file.
    """
    text = _text(path)
    if text.lstrip()[:1] == "[":
        found = read_document(path, str(path))
        if found.faults:
            raise ConfigError(found.problems(found.faults))
        for number, each in enumerate(found.data):
            yield found.place((number,)), _object(found.place((number,)), each)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield place, _object(place, json.loads(line))
            except (ValueError, RecursionError):
                raise UsageError(
                    f"{place}: no JSON (a list of samples, or one object a line, is needed)"
                ) from None


def _object(place: str, value: object) -> Mapping[str, Any]:
    if not is_object(value):
        raise UsageError(f"{place}: no JSON object")
    return value


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise UsageError(f"{path} has more than {SIZE_LIMIT // 2**20} MB (split it)")
        return read_regular(path, SIZE_LIMIT).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8") from None
