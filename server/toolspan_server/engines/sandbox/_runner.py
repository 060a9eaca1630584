"""Runs shell commands in a workspace, confined where the machine can do that."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread

from ...common.obeyed_names import GIT, OBEYED
from ...errors import ToolFailure
from ._background import BackgroundShells
from ._choice import Choice, choice
from ._command import Command, Ending, Order
from ._guard import Guard, TooMuch, too_much
from ._limits import CommandLimits
from ._reach import Confinement, Reach, described
from ._set_id import write_filter
from ._unconfined import environment, hide_server
from ._watch import Watch

Mode = Literal["auto", "required", "off"]
_THREADS_PER_PROCESS = 8
_SHARED_SHARE = 4
_OPEN, _NOTHING = "open", "nothing"


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """How commands are confined.

    ``mode`` is ``auto`` (confined where the machine can do that), ``required`` (no command runs otherwise) or
    ``off``. ``writable``, ``readable``, ``protected``, ``hidden`` and ``network`` are as in ``Reach``; what
    ``obeyed`` names in the folders is protected too (see ``common.obeyed_names``), but for the data of git
    directories with ``git_data``. ``environment`` are further variables of commands. ``unfinished`` is the
    folder that says what there was before the commands that run (see ``finish_killed``).
    """

    mode: Mode = "auto"
    network: bool = False
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    protected: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    obeyed: Sequence[str] = OBEYED
    git_data: bool = False
    unfinished: Path | None = None


class CommandRunner:
    """Runs the commands of one workspace. ``background`` are those that outlive their calls."""

    def __init__(self, workspace: Path, settings: SandboxSettings, limits: CommandLimits) -> None:
        self.limits = limits
        self.background = BackgroundShells(limits)
        self._workspace = workspace
        self._settings = settings
        self._temporary: Path | None = None
        self._filter: Path | None = None
        folders = (workspace, *settings.writable)
        guard = Guard(folders, settings.obeyed, settings.git_data, settings.protected)
        self._watch = Watch(guard, settings.unfinished)
        self._choice: Choice | None = (
            Choice(None, "it is off in the config") if settings.mode == "off" else None
        )

    async def describe(self) -> dict[str, Any]:
        """What commands may reach, for people who allow them: see ``described``."""
        found = await self._found()
        return described(found.confinement, self._reach(Path(tempfile.gettempdir())), found.why)

    async def run(self, text: str, seconds: float, denied: Sequence[Path] = ()) -> tuple[Ending, Command]:
        """Run the shell command ``text`` to its end, for at most so many seconds.

        In a sandbox it does not read what is ``denied``. When the call is cancelled, it is ended with all of
        its processes. Raises ``ToolFailure``.
        """
        command = await self.start(text, seconds, denied)
        try:
            return await command.finished(), command
        finally:
            await command.end()

    async def start(self, text: str, seconds: float, denied: Sequence[Path] = ()) -> Command:
        """Start the shell command ``text``. Raises ``ToolFailure``."""
        confinement = (await self._confinement()).confinement
        watched = object()
        try:
            temporary = await anyio.to_thread.run_sync(self._temporary_folder)
            if confinement is None:
                order, after = self._order(text, seconds, None, self._reach(temporary)), None
            else:
                kept = await anyio.to_thread.run_sync(self._look, watched)
                order = self._order(text, seconds, confinement, self._reach(temporary, kept, denied))
                after = partial(self._restore, watched)
            held = None if after is None else self._watch.descriptor
            return await Command.started(order, self.limits, after, held)
        except OSError as error:
            self._watch.forget(watched)
            raise ToolFailure(
                f"The command could not be started: {error.strerror}", error_code="not_started"
            ) from None
        except BaseException:
            self._watch.forget(watched)
            raise

    async def aclose(self) -> None:
        """End the commands in the background and remove the temporary files."""
        await self.background.aclose()
        folder, self._temporary = self._temporary, None
        if folder is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_remove, folder)

    def _order(self, text: str, seconds: float, confinement: Confinement | None, reach: Reach) -> Order:
        base = environment(self._workspace) if confinement is None else confinement.environment(reach)
        words = [_shell(base["PATH"]), "-c", text]
        if confinement is not None:
            threads = self.limits.processes * _THREADS_PER_PROCESS
            words = confinement.command(words, reach, threads, self.limits.memory_bytes // _SHARED_SHARE)
        everything = {**base, **self._settings.environment}
        wrapped = confinement is not None and confinement.wrapped
        return Order(words, everything, self._workspace, seconds, wrapped)

    async def _found(self) -> Choice:
        if self._choice is None:
            self._choice = await anyio.to_thread.run_sync(choice)
        return self._choice

    async def _confinement(self) -> Choice:
        """How commands are confined. Raises ``ToolFailure`` when they must be and cannot."""
        found = await self._found()
        if found.confinement is None:
            if self._settings.mode == "required":
                raise ToolFailure(
                    f"Commands run only in a sandbox, and there is none: {found.why}",
                    error_code="no_sandbox",
                    user_action="Do what it says, or write bash: {sandbox: auto} in the workspace's config.",
                )
            hide_server()
        return found

    def _look(self, command: object) -> list[Path]:
        try:
            return self._watch.begin(command)
        except TooMuch as reason:
            raise too_much(str(reason)) from None

    def _restore(self, command: object) -> list[str]:
        try:
            return self._watch.end(command)
        except OSError as error:
            why = error.strerror
            return [
                f"The workspace was not looked through ({why}): look before you use git or an editor there"
            ]

    def _reach(self, temporary: Path, obeyed: Sequence[Path] = (), denied: Sequence[Path] = ()) -> Reach:
        settings = self._settings
        return Reach(
            self._workspace,
            temporary / _OPEN,
            tuple(settings.writable),
            tuple(settings.readable),
            (*(Path(os.path.realpath(each)) for each in settings.protected), *obeyed),
            settings.network,
            tuple(settings.hidden),
            tuple(denied),
            temporary / _NOTHING,
            tuple(name for name in settings.obeyed if not (settings.git_data and name == GIT)),
            self._filter,
        )

    def _temporary_folder(self) -> Path:
        if self._temporary is None:
            folder = Path(tempfile.mkdtemp(prefix="toolspan-")).resolve()
            (folder / _OPEN / "home").mkdir(parents=True)
            (folder / _NOTHING / "folder").mkdir(parents=True)
            (folder / _NOTHING / "file").touch(0)
            (folder / _NOTHING / "folder").chmod(0)
            self._filter = write_filter(folder / "filter")
            self._temporary = folder
        return self._temporary


def _shell(path: str) -> str:
    return shutil.which("bash", path=path) or "/bin/sh"


def _remove(folder: Path) -> None:
    (folder / _NOTHING / "folder").chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
