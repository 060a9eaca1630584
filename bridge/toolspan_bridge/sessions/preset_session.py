"""A session for a preset: with the calculator, if the preset enables it and no server has one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from toolspan_server.engines.upstreams import ServerSpec

from ..toolbox import Toolbox
from .chosen.config import ConfigChoice
from .host import Host
from .locking import listed_definitions
from .session import Session, opened

if TYPE_CHECKING:
    from ..client import LogLevel
    from ..presets import Preset


@asynccontextmanager
async def opened_for(
    preset: Preset | None,
    choice: ConfigChoice,
    host: Host,
    log_level: LogLevel | None = None,
    *,
    meanwhile: Sequence[str] = (),
) -> AsyncGenerator[Session]:
    """The session that ``choice`` leads to, with all that ``preset`` needs; its servers may have the model
    asked. The modules ``meanwhile`` are imported while they start. Where there are no tools, ``host`` is told
    why. Raises as ``opened`` does, and ``UsageError`` when a tool of the preset is not available.
    """
    async with (
        opened(choice, host, samples=True, log_level=log_level, meanwhile=meanwhile) as session,
        with_calculator(preset, session, host) as whole,
    ):
        yield whole


@asynccontextmanager
async def with_calculator(preset: Preset | None, session: Session, host: Host) -> AsyncGenerator[Session]:
    """``session``, with the calculator for the block where ``preset`` enables it and no server has one;
    ``host`` is told what fails. Raises ``UsageError`` when a tool of the preset is not available."""
    own = None if preset is None else calculator_for(preset, session)
    if own is None:
        yield checked(preset, session)
        return
    toolbox = session.toolbox
    async with Toolbox.connect([own], principal=session.toolbox.principal) as calculator:
        for failure in calculator.failures:
            host.note(str(failure))
        baseline = session.baseline.with_own(listed_definitions(calculator))
        joined = toolbox.joined(calculator)
        whole = replace(session, toolbox=joined, baseline=baseline, no_tools=None)
        yield checked(preset, whole)


def calculator_for(preset: Preset, session: Session) -> ServerSpec | None:
    """The server of the calculator, if ``preset`` enables it and no server of ``session`` has one."""
    from ..presets import CALCULATOR, calculator_server

    toolbox = session.toolbox
    if CALCULATOR not in preset.enabled_tools or CALCULATOR in {tool.name for tool in toolbox.tools}:
        return None
    taken = {tool.server for tool in toolbox.tools} | {failure.server for failure in toolbox.failures}
    return calculator_server(session.config.state_directory, taken | set(session.config.mcp_servers))


def checked(preset: Preset | None, session: Session) -> Session:
    """``session``; where it has no tools, its host is told why. Raises ``UsageError`` when a tool of
    ``preset`` is not available in it."""
    if preset is not None:
        preset.question("", "", session.toolbox.tools)
    session.note_no_tools()
    return session
