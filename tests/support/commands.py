"""Shell commands run by the sandbox's engine in a folder of the test, and what is left of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from toolspan_server.engines.sandbox import CommandLimits, CommandRunner, Ending, SandboxSettings

SECONDS = 100.0
"""A time that no command of a test needs."""


@asynccontextmanager
async def runner(
    folder: Path, settings: SandboxSettings | None = None, **limits: int
) -> AsyncGenerator[CommandRunner]:
    """What runs commands in ``folder``; with the block it ends."""
    made = CommandRunner(folder, settings or SandboxSettings(), CommandLimits(**limits))
    try:
        yield made
    finally:
        await made.aclose()


async def ran(made: CommandRunner, text: str, seconds: float = SECONDS) -> tuple[Ending, str]:
    """How ``text`` ended, and its output."""
    ending, command = await made.run(text, seconds)
    return ending, command.output.take()


def running(words: str) -> list[int]:
    """The processes, of anyone, whose command line holds ``words``."""
    return [int(folder.name) for folder in Path("/proc").iterdir() if words in _command_line(folder)]


def _command_line(folder: Path) -> str:
    try:
        return (folder / "cmdline").read_text("utf-8", "replace").replace("\0", " ")
    except OSError:
        return ""
