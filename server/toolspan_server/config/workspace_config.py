"""The config of a folder that the command line names: ``--workspace DIR``."""

from __future__ import annotations

from pathlib import Path

from ..common.state.folder import STATE_FOLDER
from ..errors import ServeError
from .loading.merge import united
from .models.config import Config

WORKSPACE = "workspace"
"""The name of the workspace, of its toolset, and of a server that has only this."""


def with_workspace(config: Config | None, folder: Path) -> Config:
    """``config``, or one from no file, with the tools of the workspace ``folder``.

    A config from no file keeps its state in ``folder``. Raises ``ServeError`` when that is no folder, or
    ``config`` has a workspace of the same name.
    """
    if not folder.is_dir():
        raise ServeError(f"--workspace {folder}: there is no such folder")
    if config is not None and WORKSPACE in config.services.entries("workspaces"):
        raise ServeError(
            f"--workspace {folder}: the config has a workspace named {WORKSPACE!r} (leave the option out)"
        )
    parts = {
        "services": {"workspaces": {WORKSPACE: {"path": str(folder.absolute())}}},
        "tools": {"sources": [{"type": "workspace", "workspace": WORKSPACE}]},
        "toolsets": {WORKSPACE: {"tags": [WORKSPACE]}},
    }
    if config is not None:
        return united([config, Config.model_validate(parts)])
    state = str(folder.absolute() / STATE_FOLDER)
    return Config.model_validate({"name": WORKSPACE, "state_dir": state, **parts})
