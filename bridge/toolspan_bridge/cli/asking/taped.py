"""A session whose run is recorded, or comes from a recording."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from toolspan_server.config import Config

from ...errors import UsageError
from ...sessions.chosen.config import ConfigChoice, config_paths_or_default
from ...sessions.chosen.tool_globs import ALL_TOOLS
from ...sessions.client import SessionClient
from ...sessions.locking import held, locked_definitions
from ...sessions.session import Session, opened
from ...validation.between import NOTHING_BETWEEN, Between
from ..host import TERMINAL
from ..inputs.options import read_config
from ..inputs.validation.recording import RecordingChoice
from ..terminal.output import print_note

if TYPE_CHECKING:
    from ...validation.recording import Recorder, Replay

__all__ = ["EXIT_NOT_RECORDED", "EXIT_NOT_WHOLE", "Taped", "taped"]

EXIT_NOT_RECORDED = 2
"""The exit code when what was asked is not in the recording."""
EXIT_NOT_WHOLE = 1
"""The exit code when a recording is not whole."""
_SHOWN = 10


@dataclass(slots=True)
class Taped:
    """A session, and what stands ``between`` it and its models and tools. ``exit_code`` is 0 where all was as
    it should be; it is known once the session is over."""

    session: Session
    between: Between = NOTHING_BETWEEN
    exit_code: int = field(default=0)


@asynccontextmanager
async def taped(choice: ConfigChoice, recording: RecordingChoice) -> AsyncGenerator[Taped]:
    """A session as ``opened`` gives it, recorded where ``recording`` says so; or one that is replayed, for
    which no server is started. What is wrong with the recording at its end is said on stderr.

    Raises as ``opened``; ``UsageError`` also for a recording that cannot be read.
    """
    if recording.replay is not None:
        async with _replayed(choice, recording.replay) as found:
            yield found
        return
    async with opened(choice, TERMINAL) as session:
        if recording.record is None:
            yield Taped(session)
            return
        async with _recorded(session, choice, recording) as found:
            yield found


@asynccontextmanager
async def _recorded(session: Session, choice: ConfigChoice, wanted: RecordingChoice) -> AsyncGenerator[Taped]:
    from ...validation.recording import Recorder, recording

    config = session.config
    recorder = Recorder(wanted.place(config.state_directory), _redact(config, choice))
    recorder.keep_tools(session.toolbox)
    found = Taped(session, recording(recorder))
    try:
        yield found
    finally:
        recorder.close()
        found.exit_code = _told_of_recording(recorder)


def _told_of_recording(recorder: Recorder) -> int:
    if recorder.path is None:
        print_note("nothing was recorded: the run did not begin")
        return 0
    if recorder.trouble:
        print_note(f"the recording {recorder.path} is not whole: {recorder.trouble}")
        return EXIT_NOT_WHOLE
    print_note(f"recorded in {recorder.path}")
    return 0


@asynccontextmanager
async def _replayed(choice: ConfigChoice, path: Path) -> AsyncGenerator[Taped]:
    from ...validation.recording import Recorded, Replay, replaying

    if choice.servers or choice.workspace:
        raise UsageError("--replay starts no server: leave out --server and --workspace")
    config = read_config(choice, needed=False)
    replay = Replay(Recorded.read(path), _redact(config, choice))
    listed = replay.toolbox()
    toolbox, baseline = held(
        listed, locked_definitions(choice, config, server=None), TERMINAL, strict=choice.locked
    )
    if choice.tools != ALL_TOOLS:
        toolbox = toolbox.accepting(choice.tools.among(listed.tools))
    no_tools = None if toolbox.tools else UsageError(f"the recording {path} has no tools that are asked for")
    session = Session(config, toolbox, choice, baseline, SessionClient(config, TERMINAL), TERMINAL, no_tools)
    found = Taped(session, replaying(replay))
    yield found
    found.exit_code = _told_of_replay(replay)


def _told_of_replay(replay: Replay) -> int:
    for fault in replay.faults[:_SHOWN]:
        print_note(f"not as recorded: {fault}")
    if (more := len(replay.faults) - _SHOWN) > 0:
        print_note(f"not as recorded: {more:,} more trials")
    if replay.faults:
        print_note("trials that are not in the recording are errors, and are not kept")
    return EXIT_NOT_RECORDED if replay.faults else 0


def _redact(config: Config, choice: ConfigChoice) -> Callable[[str], str]:
    from ..wire.redaction import redactor

    return redactor(config, [*config_paths_or_default(choice.paths), Path.cwd() / ".mcp.json"])
