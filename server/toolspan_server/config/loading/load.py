"""Loads config files: to one ``Config``, or to every problem in them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from ...common.garbage_collector import paused
from ...common.modules.bytecode import keep_bytecode_elsewhere
from ...common.secrets.redaction import Renamed
from ...engines.registration import declared, pin_handlers, reading_only
from ...errors import ConfigError
from ...problems import Problem
from ...schema.interpolation import names_of
from ..checks.across_files import check_together
from ..config_file import (
    MOST_REPORTED,
    ConfigFile,
    opened,
    validate,
)
from ..models.config import Config
from ..models.original import fingerprint, handler_pins
from ..models.tool import ToolConfig
from ..sent_variables import sent_variables
from .merge import united

DEFAULT_FILES = ("toolspan.yaml", "toolspan.yml", "toolspan.json")
"""The default names of config files, in this order."""


def find_config(directory: Path) -> Path | None:
    """The config file in ``directory``: the first of ``DEFAULT_FILES`` that exists."""
    return next((path for name in DEFAULT_FILES if (path := directory / name).is_file()), None)


def load_config(
    *paths: str | Path,
    skip_invalid: bool = False,
    environ: Mapping[str, str] | None = None,
    import_handlers: bool = True,
    pinned: str | None = None,
    restricted: bool = False,
) -> Config:
    """Read config files as one config.

    Tools, routes and handlers of several files are concatenated; MCP servers and entries of services are
    merged, each name once; of any other setting the first file that has it takes precedence. Relative
    paths start at the first file's folder, those under ``handlers`` at their own file's.

    With ``skip_invalid`` a tool with a problem is left out and ``Config.skipped`` says why; problems
    elsewhere still raise. ``environ`` is where ``${VAR}`` is looked up, the process's environment by
    default. Without ``import_handlers`` nothing that the config names is imported: its handlers are looked
    for in the source of their modules, which are then ``Config.unchecked``. ``pinned`` is the
    ``Config.fingerprint`` that the files have to have, those of handlers too: of others, nothing is imported.
    ``restricted``: only what is inert is taken, nothing is imported, and ``Config.withheld`` is the rest.

    Raises ``ConfigError`` with the problems of every file; if there are many, the first and the number of
    others.
    """
    with paused(), nullcontext() if import_handlers and not restricted else reading_only():
        known = os.environ if environ is None else environ
        return _loaded(paths, skip_invalid, known, pinned, restricted=restricted)


def check_text(text: str, path: Path, environ: Mapping[str, str]) -> list[Problem]:
    """What is wrong with ``text`` as the config file ``path``, which is neither read nor written; handlers
    are read, not imported, and only where they are files of its folder: about what is elsewhere, nothing is
    said."""
    with paused(), reading_only(within=path.absolute().parent):
        try:
            source = opened(path, str(path), environ, exhaustive=False, text=text.encode("utf-8", "replace"))
            validate(source)
            check_together([source], skip_invalid=False)
        except ConfigError as error:
            return list(error.problems)
        renamed = Renamed(names_of([source.interpolated]))
        problems = [each for of in (True, False) for each in source.problems(renamed, of_tools=of)[0]]
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


def _loaded(
    paths: Sequence[str | Path],
    skip_invalid: bool,
    environ: Mapping[str, str],
    pinned: str | None,
    *,
    restricted: bool,
) -> Config:
    if not paths:
        hint = "name one, such as " + ", ".join(DEFAULT_FILES)
        raise ConfigError([Problem("config", 0, 0, "", "no config file was given", hint)])
    sources, problems = _open_all(paths, environ, exhaustive=skip_invalid)
    originals = tuple(source.original for source in sources)
    if pinned is not None and (len(sources) < len(paths) or fingerprint(originals) != pinned):
        hint = "run the command again, which shows what they are now"
        text = "the config or its handlers are not those that were allowed"
        raise ConfigError([Problem(str(paths[0]), 0, 0, "", text, hint), *problems])
    if pinned is not None:
        pin_handlers(handler_pins(originals))
        keep_bytecode_elsewhere()
    for source in sources:
        validate(source)
    check_together(sources, skip_invalid=skip_invalid)
    renamed = Renamed(names_of([source.interpolated for source in sources]))
    skipped, more_skipped = _found_problems(sources, renamed, of_tools=True)
    others, more = _found_problems(sources, renamed, of_tools=False)
    problems += others
    if not skip_invalid:
        problems, more = problems + skipped, more + more_skipped
        skipped, more_skipped = [], 0
    if problems:
        order = {str(path): index for index, path in enumerate(paths)}
        raise ConfigError(_first(sorted(problems, key=lambda p: (order[p.file], p.line, p.column)), more))
    whole = united([_complete(source) for source in sources]).with_origin(
        files=tuple(source.path for source in sources),
        secrets=frozenset(secret for source in sources for secret in source.secrets()),
        skipped=tuple(_first(skipped, more_skipped)),
        imported=declared() is None,
        sent=tuple(variable for source in sources for variable in sent_variables(source)),
        originals=originals,
    )
    return _restricted(whole, sources) if restricted else whole


def _restricted(whole: Config, sources: Sequence[ConfigFile]) -> Config:
    """The inert part of the config ``whole`` of ``sources``."""
    from ..consent import withheld_items
    from ..restricted import restrict

    found = [restrict(source) for source in sources]
    parts = [
        _with_tools(each.config, [tool for at, tool in each.tools.items() if at not in source.faulty_tools])
        for each, source in zip(found, sources, strict=True)
    ]
    withheld = [
        item
        for each, source in zip(found, sources, strict=True)
        if each.left_out
        for item in withheld_items(whole, source.path, each.left_out)
    ]
    return united(parts).with_origin(
        files=whole.files,
        secrets=frozenset(secret for source in sources for secret in source.secrets()),
        skipped=whole.skipped,
        imported=False,
        originals=whole.originals,
        withheld=tuple(withheld),
        is_restricted=True,
    )


def _found_problems(
    sources: Sequence[ConfigFile], renamed: Renamed, *, of_tools: bool
) -> tuple[list[Problem], int]:
    found = [source.problems(renamed, of_tools=of_tools) for source in sources]
    return [problem for problems, _ in found for problem in problems], sum(more for _, more in found)


def _first(problems: list[Problem], more: int) -> list[Problem]:
    """The first of ``problems``, and the number of others: those left out here, and ``more``."""
    more += max(len(problems) - MOST_REPORTED, 0)
    if not more:
        return problems
    last = problems[:MOST_REPORTED][-1]
    message = f"{more:,} more problems were found, and there may be others"
    return [
        *problems[:MOST_REPORTED],
        Problem(last.file, 0, 0, "", message, "correct the reported ones first"),
    ]


def _open_all(
    paths: Sequence[str | Path], environ: Mapping[str, str], *, exhaustive: bool
) -> tuple[list[ConfigFile], list[Problem]]:
    sources: list[ConfigFile] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            sources.append(opened(Path(path), str(path), environ, exhaustive=exhaustive))
        except ConfigError as error:
            problems += error.problems
    return sources, problems


def _complete(source: ConfigFile) -> Config:
    """The file's config with its valid tools."""
    assert source.config is not None, "a file without problems has a config"
    sound = [tool for index, tool in source.tools.items() if index not in source.faulty_tools]
    return _with_tools(source.config, sound)


def _with_tools(config: Config, tools: Sequence[ToolConfig]) -> Config:
    if not tools:
        return config
    return config.model_copy(update={"tools": config.tools.model_copy(update={"registry": tuple(tools)})})
