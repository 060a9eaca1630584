"""From config files to one ``Config``, or to every problem in them at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._collector import paused
from ..errors import ConfigError
from ._checks import check_together
from ._interpolate import names_of
from ._merge import united
from ._models import Config
from ._problems import Problem
from ._secrets import Renamed
from ._sources import Source, opened, validate

DEFAULT_FILES = ("toolspan.yaml", "toolspan.yml", "toolspan.json")
"""The names that a config file is looked for under, in this order."""


def find_config(directory: Path) -> Path | None:
    """The config file in ``directory``: the first of ``DEFAULT_FILES`` that is there."""
    return next((path for name in DEFAULT_FILES if (path := directory / name).is_file()), None)


def load_config(
    *paths: str | Path, skip_invalid: bool = False, environ: Mapping[str, str] | None = None
) -> Config:
    """Read config files as one config.

    Tools, routes and handlers of several files follow each other; MCP servers and collections stand
    side by side, each name once; of any other setting the first file that has it wins. Relative
    paths start at the first file's folder, those under ``handlers`` at their own file's.

    With ``skip_invalid`` a tool with a problem is left out and ``Config.skipped`` says why; problems
    elsewhere still raise. ``environ`` is where ``${VAR}`` is looked up, the process's environment by
    default.

    Raises ``ConfigError`` with every problem of every file.
    """
    with paused():
        return _loaded(paths, skip_invalid, os.environ if environ is None else environ)


def _loaded(paths: Sequence[str | Path], skip_invalid: bool, environ: Mapping[str, str]) -> Config:
    if not paths:
        hint = "name one, such as " + ", ".join(DEFAULT_FILES)
        raise ConfigError([Problem("config", 0, 0, "", "no config file was given", hint)])
    sources, problems = _open_all(paths, environ)
    for source in sources:
        validate(source)
    check_together(sources, skip_invalid=skip_invalid)
    renamed = Renamed(names_of([source.interpolated for source in sources]))
    skipped = [problem for source in sources for problem in source.problems(renamed, of_tools=True)]
    problems += [problem for source in sources for problem in source.problems(renamed, of_tools=False)]
    if not skip_invalid:
        problems += skipped
        skipped = []
    if problems:
        order = {str(path): index for index, path in enumerate(paths)}
        raise ConfigError(sorted(problems, key=lambda p: (order[p.file], p.line, p.column)))
    return united([_complete(source) for source in sources]).with_origin(
        files=tuple(source.path for source in sources),
        secrets=frozenset(secret for source in sources for secret in source.secrets()),
        skipped=tuple(skipped),
    )


def _open_all(paths: Sequence[str | Path], environ: Mapping[str, str]) -> tuple[list[Source], list[Problem]]:
    sources: list[Source] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            sources.append(opened(Path(path), str(path), environ))
        except ConfigError as error:
            problems += error.problems
    return sources, problems


def _complete(source: Source) -> Config:
    """The file's config with those of its tools that have no fault."""
    assert source.config is not None, "a file without problems has a config"
    sound = tuple(tool for index, tool in source.tools.items() if index not in source.faulty_tools)
    if not sound:
        return source.config
    tools = source.config.tools.model_copy(update={"registry": sound})
    return source.config.model_copy(update={"tools": tools})
