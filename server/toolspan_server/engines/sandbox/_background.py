"""Commands that go on running after the call that started them: few, each seen by its owner only."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass

import anyio

from ...errors import ToolFailure
from ._command import Command
from ._limits import CommandLimits

_KEPT_ENDED = 16
"""How many commands of one owner are still known after they have ended."""

_MOST_OWNERS_ENDED = 256


@dataclass(frozen=True, slots=True)
class Shell:
    """A command in the background: its ``id``, the words that it was started with, who may see it."""

    id: str
    text: str
    owner: Hashable
    command: Command

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.command.ending is None


class BackgroundShells:
    """The commands in the background, within the limits ``background`` and ``background_total``."""

    def __init__(self, limits: CommandLimits) -> None:
        self._limits = limits
        self._shells: dict[str, Shell] = {}
        self._starting: list[Hashable] = []

    async def start(self, owner: Hashable, text: str, start: Callable[[], Awaitable[Command]]) -> Shell:
        """What ``start`` starts, kept for ``owner``. Raises ``ToolFailure`` when too many run."""
        self._check_room(owner)
        self._starting.append(owner)
        try:
            command = await start()
        finally:
            self._starting.remove(owner)
        shell = Shell(f"bash_{secrets.token_hex(4)}", text, owner, command)
        self._shells[shell.id] = shell
        self._forget()
        return shell

    def get(self, owner: Hashable, name: str) -> Shell:
        """The command ``name`` of ``owner``. Raises ``ToolFailure`` when there is none."""
        shell = self._shells.get(name)
        if shell is not None and shell.owner == owner:
            return shell
        known = [each.id for each in self._shells.values() if each.owner == owner]
        there = f"there are {', '.join(known)}" if known else "none was started in this conversation"
        raise ToolFailure(
            f"No command {name[:40]!r} is in the background: {there}",
            error_code="shell_not_found",
            user_action="Use an id that Bash with run_in_background has returned.",
        )

    async def aclose(self) -> None:
        """End all of them."""
        shells, self._shells = list(self._shells.values()), {}
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for shell in shells:
                    group.start_soon(shell.command.end)

    def _check_room(self, owner: Hashable) -> None:
        running = [shell.owner for shell in self._shells.values() if shell.runs] + self._starting
        for name, count in (("background", running.count(owner)), ("background_total", len(running))):
            if count >= (most := getattr(self._limits, name)):
                raise ToolFailure(
                    f"{count} commands run in the background already: {name} is {most}",
                    error_code="too_many_shells",
                    user_action="End one with KillShell, or wait until one has ended.",
                )

    def _forget(self) -> None:
        """Forget the oldest of those that have ended, where there are many."""
        ended = [shell for shell in self._shells.values() if not shell.runs]
        for shell in ended[: max(0, len(ended) - _MOST_OWNERS_ENDED)]:
            del self._shells[shell.id]
        for owner in {shell.owner for shell in ended}:
            own = [shell for shell in ended if shell.owner == owner]
            for shell in own[: max(0, len(own) - _KEPT_ENDED)]:
                self._shells.pop(shell.id, None)
