"""The live workspaces."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ...engines.sandbox import CommandRunner, finish_killed
from ...engines.web_pages import WebPages
from ...engines.workspace import Protection, Root, Workspace
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...parts.search_engine import Hit, SearchQuestion
from ._workspace_parts import command_runner, own_paths, path_rules, search, unfinished, web_pages

if TYPE_CHECKING:
    from ._workspace_config import WorkspaceConfig

_log = logging.getLogger(__name__)


class Workspaces:
    """Every workspace of a config by name, with its config in ``configs``; ``subagents`` is what each
    sub-agent in them may use."""

    def __init__(self, configs: Mapping[str, WorkspaceConfig], environment: Environment) -> None:
        self.configs = configs
        self.subagents = environment.subagents
        self._environment = environment
        self._runners: dict[str, CommandRunner] = {}
        self._pages: dict[str, WebPages] = {}
        self._workspaces = {name: _workspace(name, config, environment) for name, config in configs.items()}

    async def run(self) -> None:
        """Remove what ended processes left in the folders, put aside what their commands made, and keep the
        folders open until cancelled; then close them, and end what runs in them."""
        try:
            await anyio.to_thread.run_sync(self._remove_leftovers)
            await anyio.sleep_forever()
        finally:
            for runner in self._runners.values():
                await runner.aclose()
            for workspace in self._workspaces.values():
                workspace.close()

    def _remove_leftovers(self) -> None:
        for name, workspace in self._workspaces.items():
            try:
                removed = workspace.remove_leftovers()
            except ToolFailure as failure:  # `state` tells it, and so does each call
                _log.debug("workspace %s: leftovers are not looked for: %s", name, failure)
                continue
            if removed:
                _log.warning("workspace %s: %d unfinished temporary files were removed", name, removed)
        try:
            told, left = finish_killed(unfinished(self._environment))
        except OSError as error:  # no command runs while this is so
            told, left = [], [str(error)]
        for each in dict.fromkeys((*told, *left)):
            _log.warning("commands were cut off when a server was killed: %s", each)

    def get(self, name: str) -> Workspace:
        """The workspace ``name``. Raises ``ToolFailure``."""
        try:
            return self._workspaces[name]
        except KeyError:
            raise ToolFailure(
                f"Workspace '{name[:100]}' not found (known: {', '.join(self._workspaces)})",
                error_code="workspace_not_found",
                user_action="Correct options.workspace, or add it to services.workspaces in the config.",
            ) from None

    def for_call(self, name: str, tool: str, arguments: Mapping[str, Any]) -> Workspace:
        """The workspace ``name`` for a call of ``tool``, held to the rules of the config about such calls.

        Raises ``ToolFailure``.
        """
        workspace = self.get(name)
        rules = path_rules(self._environment, workspace, tool, arguments)
        return workspace.held_to(rules) if rules else workspace

    def runner(self, name: str) -> CommandRunner:
        """What runs commands in the workspace ``name``. Raises ``ToolFailure``."""
        workspace = self.get(name)
        if name not in self._runners:
            self._runners[name] = command_runner(workspace, self.configs[name], self._environment)
        return self._runners[name]

    def pages(self, name: str) -> WebPages:
        """The pages of the web that the workspace ``name`` may read. Raises ``ToolFailure``."""
        self.get(name)
        if name not in self._pages:
            self._pages[name] = web_pages(self.configs[name], self._environment)
        return self._pages[name]

    async def search(self, name: str, question: SearchQuestion) -> list[Hit]:
        """What the engine of the workspace ``name`` finds. Raises ``ToolFailure``."""
        self.get(name)
        return await search(self.configs[name].web_search, self._environment, question)

    def state(self) -> dict[str, Any]:
        """Their state: ``failed`` when a folder cannot be opened."""
        each = {name: _state(workspace) for name, workspace in self._workspaces.items()}
        failed = any(one["state"] == "failed" for one in each.values())
        return {"state": "failed" if failed else "ready", "workspaces": each}


def _state(workspace: Workspace) -> dict[str, str]:
    try:
        workspace.descriptor()
    except ToolFailure as failure:
        return {"state": "failed", "error": str(failure)}
    return {"state": "ready"}


def _workspace(name: str, config: WorkspaceConfig, environment: Environment) -> Workspace:
    base = environment.config_dir
    return Workspace(
        (base / config.path).absolute(),
        environment.state_dir.absolute() / "workspaces" / f"{name}.sqlite3",
        roots=[Root((base / root.path).absolute(), root.writable) for root in config.roots],
        limits=config.limits,
        protection=Protection(own_paths(config, environment), config.protected, hidden=environment.stored),
    )
