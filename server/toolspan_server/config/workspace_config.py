"""The config of a folder that the command line names: ``--workspace DIR``."""

from __future__ import annotations

import json
from pathlib import Path

from ..common.state.folder import STATE_FOLDER
from ..errors import ServeError
from .loading.merge import united
from .models.asking.approvals import ApprovalsConfig
from .models.config import Config

WORKSPACE = "workspace"
"""The name of the workspace, of its toolset, and of a server that has only this."""


def with_workspace(config: Config | None, folder: Path, rules: str | None = None) -> Config:
    """``config``, or one from no file, with the tools of the workspace ``folder``.

    A config from no file keeps its state in ``folder``, and its ``approvals`` are the JSON ``rules``.
    Raises ``ServeError`` when that is no folder, ``config`` has a workspace of the same name, or ``rules``
    cannot be used.
    """
    if rules is not None and config is not None:
        raise ServeError("--rules goes with --workspace alone: a config has its own under approvals")
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
    approvals = {} if rules is None else {"approvals": _approvals(rules)}
    return Config.model_validate({"name": WORKSPACE, "state_dir": state, **approvals, **parts})


def _approvals(rules: str) -> ApprovalsConfig:
    try:
        return ApprovalsConfig.model_validate(json.loads(rules))
    except ValueError as error:
        raise ServeError(f"--rules: these are no approvals of a config: {error}") from None
