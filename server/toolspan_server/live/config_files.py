"""The files of a config, those of its tokens too, and whether they have changed since it was loaded."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..common.regular_files import open_regular
from ..config import (
    Config,
    UntrustedItem,
    is_empty,
    load_config,
    refusal,
)
from ..errors import ServeError
from ..schema.positions import SIZE_LIMIT

_FRESH_NS = 2_000_000_000

Marks = tuple[object, ...]
Consent = Callable[[Sequence[UntrustedItem], bool], bool]
"""Whether the user allowed these items; they may be asked where the second argument says so."""


class ConfigFiles:
    """The files of a config, as they were when it was loaded, and as they are now.

    Unless they are ``allowed``, only what is inert is taken of them, also later, save where ``consent`` says
    yes to the rest; it may ask the user before the config is loaded first. ``pinned`` is the fingerprint
    (``Config.fingerprint``) of the only config that was allowed elsewhere. Once a config was trusted, another
    one that is not is refused. With ``workspace`` the config has the tools of that folder too; it may then be
    of no file. ``aggregate`` says whether its MCP servers are served too; ``None``: where it has the key.
    What the config of the files ``beside`` has Toolspan obey, and the paths ``left_alone``, no tool changes.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        skip_invalid: bool = False,
        allowed: bool = True,
        workspace: Path | None = None,
        rules: str | None = None,
        beside: Sequence[Path] = (),
        left_alone: Sequence[Path] = (),
        consent: Consent | None = None,
        pinned: str | None = None,
        aggregate: bool | None = None,
    ) -> None:
        self._paths = tuple(paths)
        self._skip_invalid = skip_invalid
        self._allowed = allowed
        self._workspace = workspace
        self._rules = rules
        self._beside = tuple(beside)
        self._left_alone = tuple(left_alone)
        self._consent = consent
        self._pinned = pinned
        self._aggregate = aggregate
        self._loaded = self._trusted = False
        self._tokens: tuple[Path, ...] = ()
        self._marks: Marks = ()
        self._contents: Marks = ()

    def load(self) -> Config:
        """The config. Raises ``ConfigError``, and ``ServeError`` when it is not the one that was allowed, or
        nothing of it may be served."""
        self._note()
        config = self._config()
        if self._aggregates(config):
            from ..config import aggregated

            if config.withheld:
                raise ServeError(refusal(config.withheld))
            config = aggregated(config)
        config = self._keeping(config)
        self._loaded, self._trusted = True, not config.is_restricted
        if (tokens := config.token_files) != self._tokens:
            own = len(self._named)
            self._tokens = tokens
            self._marks = (*self._marks[:own], *map(_mark, tokens))
            self._contents = (*self._contents[:own], *map(_content, tokens))
        return config

    def _aggregates(self, config: Config) -> bool:
        return config.aggregate is not None if self._aggregate is None else self._aggregate

    def _config(self) -> Config:
        """The config, with the workspace if there is one."""
        if self._workspace is None:
            return self._read()
        from ..config import with_workspace

        return with_workspace(self._read() if self._paths else None, self._workspace, self._rules)

    def _keeping(self, config: Config) -> Config:
        """``config``, with what its tools are to leave alone."""
        restricted = not self._allowed
        used = [self._beside] if self._beside else []
        return config.serving_beside(
            [
                load_config(*files, skip_invalid=True, import_handlers=False, restricted=restricted)
                for files in used
            ],
            self._left_alone,
        )

    def _read(self) -> Config:
        if self._allowed:
            return load_config(*self._paths, skip_invalid=self._skip_invalid)
        config = load_config(*self._paths, skip_invalid=self._skip_invalid, restricted=True)
        if not config.withheld:
            return config
        if self._is_trusted(config):
            return load_config(*self._paths, skip_invalid=self._skip_invalid, pinned=config.fingerprint)
        if self._trusted or is_empty(config):
            raise ServeError(refusal(config.withheld))
        return config

    def _is_trusted(self, config: Config) -> bool:
        """Whether what ``config`` leaves out was allowed. Raises ``ServeError`` where another one was."""
        if self._pinned is None:
            return self._consent is not None and self._consent(config.withheld, not self._loaded)
        if config.fingerprint != self._pinned:
            hint = "run the command again, which shows what they are now"
            path = self._paths[0]
            raise ServeError(f"{path}: the config or its handlers are not those that were allowed ({hint})")
        return True

    def changed(self) -> bool:
        """Whether what the files hold is something else than when it was loaded.

        Sizes and times decide, except times of this moment: two changes may have the same.
        """
        marks = tuple(map(_mark, self._all))
        if marks == self._marks and not any(_is_fresh(mark) for mark in marks):
            return False
        before, contents = self._contents, self.contents()
        self._marks = marks
        return contents != before

    def contents(self) -> Marks:
        """A value that is equal as long as the files have the same content."""
        return tuple(map(_content, self._all))

    @property
    def _all(self) -> tuple[Path, ...]:
        return self._named + self._tokens

    @property
    def _named(self) -> tuple[Path, ...]:
        return self._paths + self._beside

    def _note(self) -> None:
        self._marks = tuple(map(_mark, self._all))
        self._contents = self.contents()


def _mark(path: Path) -> tuple[int, ...] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(now.st_mode):
        return ()
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def _is_fresh(mark: tuple[int, ...] | None) -> bool:
    return mark is not None and mark != () and time.time_ns() - max(mark[3:]) < _FRESH_NS


def _content(path: Path) -> object:
    """A fingerprint of a file's content, up to the largest size of a config.

    It is the same for everything but files.
    """
    if _mark(path) == ():
        return ""
    try:
        with open_regular(path) as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        return type(error)
    return len(data), hash(data)
