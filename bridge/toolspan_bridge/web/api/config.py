"""``/api/config``: the config file as it is, and the check of another text for it. Nothing here changes
it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import anyio.to_thread
from pydantic import Field

from toolspan_server.common.regular_files import read_regular
from toolspan_server.config import DEFAULT_FILES, Config, check_text
from toolspan_server.config.shown_text import places_left_open, shown_text
from toolspan_server.errors import ConfigError
from toolspan_server.problems import Problem
from toolspan_server.schema.positions import SIZE_LIMIT

from ..endpoint import Answer, Call, Endpoint, Values
from ._unset_variables import UnreadVariables

_MOST_TEXT = 1_000_000


class ConfigProblem(Answer):
    """One fault of a config: lines and columns count from 1, 0 where the whole file is meant."""

    line: int
    column: int
    path: str = Field(description="Where in the data, as $.tools.registry[2].name.")
    message: str
    hint: str


class ConfigText(Answer):
    """The config that is used, with its secrets left out."""

    path: str | None
    text: str
    version: str = Field(description="Changes whenever the file's content does.")
    problems: list[str] = Field(description="Why a changed file is not used, where it is so.")


class CheckedText(Values):
    """A text to check as a config."""

    text: str = Field(max_length=_MOST_TEXT)


class ConfigProblems(Answer):
    """What is wrong with a text; nothing, where it is a good config."""

    problems: list[ConfigProblem]


async def shown(call: Call) -> ConfigText:
    """The first file of the config: the text of now; where that is no config, the one that is used."""
    config = call.app.config
    path = config.files[0] if config.files else None
    raw = b"" if path is None else await anyio.to_thread.run_sync(_read, path)
    return ConfigText(
        path=None if path is None else str(path),
        text=await anyio.to_thread.run_sync(_shown, config, raw),
        version=hashlib.sha256(raw).hexdigest()[:16],
        problems=list(call.app.live.problems),
    )


async def checked(call: Call) -> ConfigProblems:
    """The faults of a text, as ``toolspan check`` finds them, but of values that the text leaves open: what
    ``shown`` wrote in place of a secret is no fault of the file. Handlers are read, not imported."""
    config, text = call.app.config, call.values(CheckedText).text
    path = config.files[0] if config.files else Path.cwd() / DEFAULT_FILES[0]
    found = await anyio.to_thread.run_sync(_faults, text, path)
    return ConfigProblems(
        problems=[
            ConfigProblem(line=p.line, column=p.column, path=p.path, message=p.message, hint=p.hint)
            for p in found
        ]
    )


def _faults(text: str, path: Path) -> list[Problem]:
    found = check_text(text, path, UnreadVariables())
    left_open = places_left_open(text, str(path))
    return [each for each in found if (each.line, each.column) not in left_open]


def _shown(config: Config, raw: bytes) -> str:
    """The text without secrets: those of the schema, and, wherever they stand, those that are known."""
    used = config.originals[0].text if config.originals else ""
    for text in (raw.decode("utf-8", "replace"), used):
        with suppress(ConfigError):
            return config.redact(shown_text(text, str(config.files[0])))
    return ""


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, SIZE_LIMIT)
    except OSError:  # it is gone: the config that was read from it is still used
        return b""


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/config",
        "The config file, without secrets.",
        shown,
        "config",
        audience="operator",
        answer=ConfigText,
    ),
    Endpoint(
        "POST",
        "/api/config/check",
        "Check a text as a config.",
        checked,
        "config",
        audience="shared",
        description="Nothing is written, imported or run, and no variable is read. Handlers are read where "
        "they are files of the config's folder; what is named elsewhere is not looked for. A value that is "
        "left out (***) or is a variable's has no fault.",
        body=CheckedText,
        answer=ConfigProblems,
    ),
)
