"""Takes secrets out of texts for a report: those of the environment and of configs, and what looks so."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from toolspan_server.common.regular_files import read_regular
from toolspan_server.common.secrets.key_shapes import without_keys
from toolspan_server.common.secrets.redaction import Redactor
from toolspan_server.config import Config, ConfigError
from toolspan_server.schema.positions import SIZE_LIMIT, parse_document

from ..other_clients.discovery import is_secret, without_secrets

_MASK = "***"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")
_HOLDS_SECRETS = frozenset(("env", "headers", "credentials", "auth", "oauth"))
_HARMLESS = frozenset(("true", "false", "null", "none", "bearer", "basic", "header", "query", "oauth2"))


def redactor(config: Config, files: Iterable[Path]) -> Callable[[str], str]:
    """What takes the secrets of the environment and of the config's ``files`` out of a text, in any spelling,
    and what looks like a key.

    Secrets are values that are called so, those of variables that a file names, and all under ``env``,
    ``headers``, ``auth`` and the like.
    """
    texts = [_text(path) for path in files]
    secrets = {*_of_environment(texts), *(each for text in texts for each in _of_config(text))}
    without_known = Redactor(secrets, _MASK)

    def redact(text: str) -> str:
        return without_keys(without_known(config.redact(text)), lambda _, __: _MASK)

    return redact


def _text(path: Path) -> str:
    try:
        return read_regular(path, SIZE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def _of_environment(texts: Iterable[str]) -> Iterator[str]:
    named = {name for text in texts for name in _VARIABLE.findall(text)}
    for name, value in os.environ.items():
        if value and (name in named or is_secret(name, value)):
            yield value


def _of_config(text: str) -> Iterator[str]:
    try:
        data = parse_document(text, "config").data
    except ConfigError:
        yield from _of_lines(text)
        return
    yield from _of_value("", data, inside=False)


def _of_lines(text: str) -> Iterator[str]:
    """Of a file that cannot be read: the rest of each line that begins with a name of a secret."""
    for line in text.splitlines():
        name, separator, value = line.strip(" -\t\"'{").partition(":")
        stripped = value.strip().strip("\"',}")
        if separator and stripped and is_secret(name.strip("\"' "), stripped):
            yield stripped


def _of_value(called: str, value: Any, *, inside: bool) -> Iterator[str]:
    """The secrets in ``value``; ``inside``: all texts in it are."""
    if isinstance(value, Mapping):
        entry = cast("Mapping[str, Any]", value)
        yield from _of_server(entry)
        for name, part in entry.items():
            yield from _of_value(name, part, inside=inside or name in _HOLDS_SECRETS)
    elif isinstance(value, list):
        for part in cast("Iterable[Any]", value):
            yield from _of_value(called, part, inside=inside)
    elif isinstance(value, str) and value.lower() not in _HARMLESS and (inside or is_secret(called, value)):
        yield value


def _of_server(entry: Mapping[str, Any]) -> list[str]:
    """The secrets in the arguments and the URL of a server's entry."""
    found: list[str] = []

    def put(_: str, value: str) -> str:
        found.extend((value, unquote(value)))
        return _MASK

    arguments, url = entry.get("args"), entry.get("url")
    known: dict[str, Any] = {}
    if isinstance(arguments, list):
        known["args"] = [str(each) for each in cast("Iterable[Any]", arguments)]
    if isinstance(url, str):
        known["url"] = url
    without_secrets(known, put)
    return found
