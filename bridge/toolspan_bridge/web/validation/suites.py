"""The suites that the API knows: the built-in one, and those in the folder of the config, by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolspan_server.common.regular_files import read_regular
from toolspan_server.errors import ConfigError

from ...validation import Suite, default_suite, load_suite

if TYPE_CHECKING:
    from toolspan_server.config import Config

_ENDINGS = (".yaml", ".yml", ".json")
_MOST_FILES = 500
_LONGEST = 4 << 20
_HAS_SCENARIOS = re.compile(rb'^[ \t]*(?:\{[ \t]*)?"?scenarios"?[ \t]*:', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FoundSuite:
    """A suite by its ``name``; of one that cannot be loaded ``suite`` is ``None`` and ``problems`` say why.
    ``file`` is ``None`` for the built-in one."""

    name: str
    suite: Suite | None
    file: Path | None = None
    problems: tuple[str, ...] = ()


def found_suites(config: Config) -> list[FoundSuite]:
    """The built-in suite, and those beside the files of ``config`` or in a folder ``suites`` there, sorted by
    name: files with scenarios, called by their name without its ending. Of one name the first counts."""
    built_in = default_suite()
    found = {built_in.name: FoundSuite(built_in.name, built_in)}
    for file in _files(config):
        if file.stem not in found and _is_suite(file):
            found[file.stem] = _loaded(file)
    return [found[name] for name in sorted(found)]


def _files(config: Config) -> Iterator[Path]:
    own = {file.resolve() for file in config.files}
    for folder in dict.fromkeys(file.resolve().parent for file in config.files):
        for place in (folder, folder / "suites"):
            inside = sorted(place.iterdir())[:_MOST_FILES] if place.is_dir() else []
            yield from (file for file in inside if file.suffix in _ENDINGS and file not in own)


def _is_suite(file: Path) -> bool:
    try:
        return (
            file.is_file()
            and file.stat().st_size <= _LONGEST
            and _HAS_SCENARIOS.search(read_regular(file, _LONGEST)) is not None
        )
    except OSError:
        return False


def _loaded(file: Path) -> FoundSuite:
    try:
        suite = load_suite(file)
    except ConfigError as error:
        return FoundSuite(file.stem, None, file, problems_of(error, file))
    return FoundSuite(file.stem, suite, file)


def problems_of(error: ConfigError, file: Path) -> tuple[str, ...]:
    """The problems of ``error`` in ``file``, without the folder, which is nobody's business."""
    return tuple(str(each).replace(str(file), file.name) for each in error.problems)
