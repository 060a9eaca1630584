"""The file of a recording: lines of JSON, only ever appended to, for its owner alone.

    {"toolspan_run_recording": 1, "toolspan": "0.1.0", "started": "2026-11-23T06:00:00.000Z", "run": "…"}
    {"resumed": {"notes": […]}}                                 the run was gone on with: what was said then
    {"server": {"name", "own", "tools": [{"name", "description", "schema", "details", "digest"}]}}
    {"model": {"model", "provider", "name", "format", "searches_tools", "price_share", "identity"}}
    {"offered": {"hash", "tools": {"server/name": HASH}}}
    {"began": {"model", "suite", "scenario", "number"}}         an attempt at a trial: the lines of its place
                                                                before this one no longer count
    {"reply": {…}, "asked": {…}, "at": PLACE}                   in place of "reply": "error", or "unanswered"
    {"call": {"id", "server", "tool", "arguments", "outcome"}, "at": PLACE}      "outcome" null: no result
    {"trial": {"success", "is_error", "error", "timestamp", "details", "run", "number"}, "at": PLACE}

A line counts when its end is there: whatever moment the run is ended at, the lines before hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import reading, stat_private

from ...conversation.log_file import LogFile, hold
from ...conversation.message_json import object_of
from ...errors import BusyError, StoreError, UsageError
from ..storage.trial import timestamp

__all__ = ["MARK", "MAX_BYTES", "VERSION", "RecordingFile", "head_of", "lines_of"]

MARK = "toolspan_run_recording"
VERSION = 1
MAX_BYTES = 1 << 30
"""The largest recording: 1 GiB."""
_MAX_LINE = 1 << 26


class RecordingFile:
    """A recording that is being written. ``trouble`` says why nothing more is, where that is so. ``done`` are
    the numbers of the trials that were in it before, without those that ended by an error."""

    def __init__(self, file: LogFile, done: frozenset[int] = frozenset()) -> None:
        self._file = file
        self.path = file.path
        self.done = done
        self.trouble = ""

    @classmethod
    def begun(cls, path: Path, run: str) -> RecordingFile:
        """A new recording of ``run``, or the one in ``path`` to go on with where it is of the same run.

        Raises ``UsageError`` where it is another one's, ``BusyError`` and ``StoreError``.
        """
        try:
            private_folder(path.parent)
            if stat_private(path) is not None:
                return cls(*_resumed(path, run))
            found = cls(LogFile.made(path, MAX_BYTES))
        except BusyError:
            raise BusyError(f"the recording {path} is being written by another process") from None
        except OSError as fault:
            raise StoreError(f"the recording {path} cannot be written: {fault.strerror}") from None
        from ..fingerprint import toolspan_version

        found.append({MARK: VERSION, "toolspan": toolspan_version(), "started": timestamp(), "run": run})
        return found

    def append(self, line: Mapping[str, Any]) -> None:
        """Write ``line``, unless there is ``trouble`` already."""
        if self.trouble:
            return
        try:
            if self._file.size > MAX_BYTES - _MAX_LINE:
                raise StoreError(f"it is larger than {MAX_BYTES - _MAX_LINE:,} bytes")
            self._file.append(line)
        except StoreError as fault:
            self.trouble = fault.message
        except OSError as fault:
            self.trouble = fault.strerror or str(fault)

    def sync(self) -> None:
        """Have the system put every line on the disk."""
        try:
            self._file.sync()
        except OSError as fault:
            self.trouble = self.trouble or fault.strerror or str(fault)

    def close(self) -> None:
        """Let other processes use the file."""
        with suppress(OSError):
            self._file.close()


def head_of(path: Path) -> dict[str, Any]:
    """The first line of the recording in ``path``. Raises ``UsageError`` when it is none, and ``OSError``."""
    for _, line in lines_of(path):
        return line
    raise UsageError(f"the recording {path} cannot be read: it is empty")


def lines_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line of the recording in ``path``, its end in bytes first, up to a last one without an end.

    Raises ``UsageError`` that names the first line that is damaged, and ``OSError``.
    """
    import json

    end = 0
    with reading(path) as file:
        for number, data in enumerate(iter(lambda: file.readline(_MAX_LINE + 1), b""), 1):
            if not data.endswith(b"\n") and len(data) <= _MAX_LINE:
                return
            try:
                line = object_of(json.loads(data), "it")
                if number == 1:
                    _check_head(line)
            except (ValueError, RecursionError):
                raise UsageError(f"{path}:{number}: no line of a recording: it is no JSON") from None
            except UsageError as fault:
                raise UsageError(f"{path}:{number}: no line of a recording: {fault}") from None
            end += len(data)
            yield end, line


def _check_head(line: Mapping[str, Any]) -> None:
    version = line.get(MARK)
    if type(version) is not int or version < 1:
        raise UsageError("this is no recording of a run (toolspan validate --record writes one)")
    if version > VERSION:
        raise UsageError(f"a newer toolspan wrote it (version {version}, this one reads {VERSION})")


def _resumed(path: Path, run: str) -> tuple[LogFile, frozenset[int]]:
    """The file at the end of what is whole in it, and the numbers of the trials that are done there."""
    descriptor, done = hold(path), set[int]()
    try:
        if head_of(path).get("run") != run or not run:
            raise UsageError(f"{path} is there already, of another run: choose another file for --record")
        end = 0
        for end, line in lines_of(path):  # noqa: B007  # the last one
            match line:
                case {"trial": {"number": int(number), "is_error": False}}:
                    done.add(number)
                case _:
                    continue
        return LogFile.opened(path, descriptor, end, MAX_BYTES), frozenset(done)
    except BaseException:
        os.close(descriptor)
        raise
