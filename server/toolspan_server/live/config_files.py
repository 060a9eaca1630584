"""The files of a config, those of its tokens too, and whether they have changed since it was loaded."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..config import (
    Config,
    UntrustedItem,
    load_config,
    refusal,
    untrusted_code,
)
from ..errors import ServeError
from ..schema.positions import SIZE_LIMIT

_FRESH_NS = 2_000_000_000

Marks = tuple[object, ...]
Consent = Callable[[Sequence[UntrustedItem], bool], bool]
"""Whether the user allowed these items; they may be asked where the second argument says so."""


class ConfigFiles:
    """The files of a config, as they were when it was loaded, and as they are now.

    Unless they are ``allowed``, a config that would run the code of others is refused, also later, save what
    ``consent`` says yes to; it may ask the user before the config is loaded first. ``pinned`` is the
    fingerprint (``Config.fingerprint``) of the only config that was allowed elsewhere. With ``workspace`` the
    config has the tools of that folder too; it may then be of no file. ``aggregate`` says whether its MCP
    servers are served too; ``None``: where it has the key.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        skip_invalid: bool = False,
        allowed: bool = True,
        workspace: Path | None = None,
        rules: str | None = None,
        consent: Consent | None = None,
        pinned: str | None = None,
        aggregate: bool | None = None,
    ) -> None:
        self._paths = tuple(paths)
        self._skip_invalid = skip_invalid
        self._allowed = allowed
        self._workspace = workspace
        self._rules = rules
        self._consent = consent
        self._pinned = pinned
        self._aggregate = aggregate
        self._loaded = False
        self._tokens: tuple[Path, ...] = ()
        self._marks: Marks = ()
        self._contents: Marks = ()

    def load(self) -> Config:
        """The config. Raises ``ConfigError``, and ``ServeError`` when it would run what was not allowed."""
        self._note()
        config = self._config()
        if not self._allowed and (found := self._untrusted(config)):
            self._check(found, config)
            config = self._config(config.fingerprint)
        if self._aggregates(config):
            from ..config import aggregated

            config = aggregated(config)
        self._loaded = True
        if (tokens := tuple(_token_files(config))) != self._tokens:
            own = len(self._paths)
            self._tokens = tokens
            self._marks = (*self._marks[:own], *map(_mark, tokens))
            self._contents = (*self._contents[:own], *map(_content, tokens))
        return config

    def _untrusted(self, config: Config) -> tuple[UntrustedItem, ...]:
        """What serving ``config`` would run, connect to and send."""
        if not self._aggregates(config):
            return untrusted_code(config)
        from ..config import untrusted_servers

        return (*untrusted_code(config), *untrusted_servers(config))

    def _aggregates(self, config: Config) -> bool:
        return config.aggregate is not None if self._aggregate is None else self._aggregate

    def _check(self, found: Sequence[UntrustedItem], config: Config) -> None:
        """Raise ``ServeError`` unless ``found``, which ``config`` would run and send, was allowed."""
        if self._pinned is not None:
            if config.fingerprint != self._pinned:
                hint = "run the command again, which shows what they are now"
                path = self._paths[0]
                raise ServeError(
                    f"{path}: the config or its handlers are not those that were allowed ({hint})"
                )
        elif self._consent is None or not self._consent(found, not self._loaded):
            raise ServeError(refusal(found))

    def _config(self, pinned: str | None = None) -> Config:
        """The config; with the fingerprint ``pinned``, its handlers are imported."""
        if self._workspace is None:
            return self._read(pinned)
        from ..config import with_workspace

        return with_workspace(self._read(pinned) if self._paths else None, self._workspace, self._rules)

    def _read(self, pinned: str | None) -> Config:
        return load_config(
            *self._paths,
            skip_invalid=self._skip_invalid,
            import_handlers=self._allowed or pinned is not None,
            pinned=pinned,
        )

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
        return self._paths + self._tokens

    def _note(self) -> None:
        self._marks = tuple(map(_mark, self._all))
        self._contents = self.contents()


def _token_files(config: Config) -> Iterator[Path]:
    tokens = [] if config.auth is None else [*config.auth.tokens]
    for toolset in config.toolsets.values():
        tokens += () if toolset.auth is None else toolset.auth.tokens
    return (config.directory / token.file for token in tokens if token.file is not None)


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
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        return type(error)
    return len(data), hash(data)
