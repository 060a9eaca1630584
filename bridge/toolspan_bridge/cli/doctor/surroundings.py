"""What checks look at: the config that the options name, and what may be run of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolspan_server.config import Config, ConfigError, UntrustedItem, load_config

from ...sessions.chosen.config import ConfigChoice, config_paths_or_default
from ..host import TERMINAL


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The config's ``files``, and the ``config`` itself, empty where it cannot be read because of
    ``error``. Of a config that nobody trusts it is what is inert."""

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
                load_config(
                    *files,
                    skip_invalid=choice.skip_invalid,
                    import_handlers=False,
                    restricted=not choice.is_named,
                )
                if files
                else Config()
            )
            around = cls(choice, files, config)
            if config.withheld and around.may_use(config.withheld):
                config = load_config(*files, skip_invalid=choice.skip_invalid, pinned=config.fingerprint)
        except ConfigError as error:
            return cls(choice, files, Config(), error)
        return cls(choice, files, config)

    def withholds(self, *keys: str) -> bool:
        """Whether something under one of ``keys`` was left out of the config, as nobody trusts it."""
        places = tuple(f"$.{key}" for key in keys)
        return any(item.place.startswith(places) for item in self.config.withheld)

    def may_use(self, found: Sequence[UntrustedItem]) -> bool:
        """Whether the person allowed ``found``, now or earlier. Nobody is asked."""
        return not found or self.choice.may_run or self.choice.is_trusted(found, TERMINAL, ask=False)
