"""What checks look at: the config that the options name, and what may be run of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolspan_server.config import Config, ConfigError, UntrustedItem, load_config

from ...errors import ConsentError
from ...sessions.chosen.config import ConfigChoice, config_paths_or_default
from ..host import TERMINAL


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The config's ``files``, and the ``config`` itself, empty where it cannot be read because of
    ``error``."""

    choice: ConfigChoice
    files: tuple[Path, ...]
    config: Config
    error: ConfigError | None = None

    @classmethod
    def of(cls, choice: ConfigChoice) -> Surroundings:
        """Those of a command's options. Nothing is run."""
        files = config_paths_or_default(choice.paths)
        try:
            config = (
                load_config(*files, skip_invalid=choice.skip_invalid, import_handlers=False)
                if files
                else Config()
            )
        except ConfigError as error:
            return cls(choice, files, Config(), error)
        return cls(choice, files, config)

    def may_run(self, found: Sequence[UntrustedItem]) -> bool:
        """Whether the person allowed ``found``, now or earlier. Nobody is asked."""
        if not found or self.choice.may_run:
            return True
        try:
            return self.choice.is_trusted(found, TERMINAL, ask=False)
        except ConsentError:
            return False
