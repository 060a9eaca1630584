"""Which store a config has: the one place where that is chosen."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.config import Config

from .storage.store import STORE_FILE

__all__ = ["store_of"]

_SQLITE = "sqlite:///"


def store_of(config: Config) -> Path | str:
    """The place of the validation store of ``config``: its ``validation.store``, of which a relative file is
    in the config's folder, else a file in the state directory."""
    own = config.validation.store if config.validation else None
    if own is None:
        return config.state_directory / STORE_FILE
    if own.startswith(_SQLITE):
        return (config.directory / own.removeprefix(_SQLITE)).resolve()
    return own
