"""Writes down what comes of a validation while it runs: each reply of a model and each result of a tool.

recorder = Recorder(Path("run.jsonl"), redact)
recorder.keep_tools(toolbox)
between = recording(recorder)
async with Asker(config, toolbox, between=between) as asker: …
recorder.close()
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from ...conversation.message_json import plain
from ...errors import BridgeError
from ...messages import Reply, Request, ToolOutcome, ToolSpec
from ...providers import Provider
from ...providers.identity import Identity
from ...toolbox import Toolbox
from ...toolbox._ways import Make
from .._clean import Redact, clean
from ..runs.attempt import Attempt, Place, current_attempt
from ..runs.events import RunBegan
from ..storage.trial import Trial
from .file import RecordingFile
from .records import error_data, listed_data, place_data, redacted, reply_data
from .requests import AskedBy

__all__ = ["Recorder", "recording_path"]

_SUFFIX = ".jsonl"


def recording_path(place: Path, run: str) -> Path:
    """The file of the recording of ``run``: ``place``, or a file in it where that is a folder."""
    return place / f"{run}{_SUFFIX}" if place.is_dir() else place


class Recorder:
    """Records a run in the file ``place``, or in a file of the folder ``place``; ``redact`` takes secrets out
    of every text. Nothing is written before ``begin``. Safe to share between threads."""

    def __init__(self, place: Path, redact: Redact) -> None:
        self._place = place
        self._redact = redact
        self._by = AskedBy(redact)
        self._file: RecordingFile | None = None
        self._run = ""
        self._lacking = 0
        self._early: list[Mapping[str, Any]] = []
        self._attempts: set[Attempt] = set()
        self._offered: set[str] = set()
        self._lock = Lock()

    @property
    def path(self) -> Path | None:
        """The file; ``None`` before ``begin``."""
        return self._file.path if self._file else None

    @property
    def trouble(self) -> str:
        """Why the recording is not whole; empty where it is."""
        if self._file is not None and self._file.trouble:
            return self._file.trouble
        if not self._lacking:
            return ""
        return f"it lacks the trials that were made before the run was recorded ({self._lacking:,})"

    def began(self, began: RunBegan) -> None:
        """Begin the recording of the run that ``began``, or go on with it, and write down what was said of
        that. Raises as ``begin``."""
        self.begin(began.run)
        if began.notes:
            self._write({"resumed": {"notes": list(began.notes)}})
        there = self._file.done if self._file else frozenset[int]()
        self._lacking = sum(trial.number not in there for trial in began.earlier)

    def expect(self, run: str) -> None:
        """The recording will be of ``run``, which was begun earlier, unless another one is begun."""
        self._run = run

    def begin(self, run: str = "") -> None:
        """Begin the recording of ``run``, or go on with it where there is one already; without a name, of the
        expected one, or of one that has no name elsewhere.

        Raises ``UsageError`` where the file is of another run, ``BusyError`` and ``StoreError``.
        """
        with self._lock:
            if self._file is None:
                self._run = run = run or self._run or secrets.token_hex(16)
                self._file = RecordingFile.begun(recording_path(self._place, run), run)
                for line in self._early:
                    self._file.append(line)
                self._early = []

    def close(self) -> None:
        """Make what is written last, and let others use the file."""
        if self._file is not None:
            self._file.sync()
            self._file.close()

    def keep_tools(self, toolbox: Toolbox) -> None:
        """Write down the servers and the tools of ``toolbox``."""
        servers: dict[str, list[dict[str, Any]]] = {}
        for spec in toolbox.tools:
            servers.setdefault(spec.server, []).append(listed_data(toolbox.definition(spec)))
        for name, tools in servers.items():
            self._write({"server": {"name": name, "own": toolbox.is_own(name), "tools": tools}})

    def keep_model(self, model: str, name: str, provider: Provider, identity: Identity) -> None:
        """Write down what is told of ``model`` (``provider/model``), which is called ``name`` there."""
        told = {"provider": provider.name, "name": name, "format": provider.format_name}
        more = {"searches_tools": provider.searches_tools, "price_share": provider.price_share}
        self._write({"model": {"model": model, **told, **more, "identity": asdict(identity)}})

    def keep_answer(self, request: Request, answer: Reply | BridgeError | None) -> None:
        """Write down the answer to ``request``; ``None`` where the trial ended before there was one."""
        if (attempt := self._attempt()) is None:
            return
        asked = self._by.asked(request)
        if asked.tools not in self._offered:
            self._offered.add(asked.tools)
            tools = self._by.seen[asked.tools]
            self._write({"offered": {"hash": tools.hash, "tools": dict(tools.each)}})
        told: dict[str, Any] = {"unanswered": True}
        if isinstance(answer, Reply):
            told = {"reply": reply_data(answer)}
        elif answer is not None:
            told = {"error": error_data(answer)}
        self._write({**told, "asked": asked.as_dict(), "at": place_data(attempt.place)})

    async def through(
        self, spec: ToolSpec, arguments: Mapping[str, Any], call_id: str, make: Make
    ) -> ToolOutcome:
        """Make a call and write down its outcome."""
        call = {"id": call_id, "server": spec.server, "tool": spec.name, "arguments": arguments}
        try:
            outcome = await make()
        except BaseException:  # cancelled: the trial was ended
            self._keep_call({**call, "outcome": None})
            raise
        self._keep_call({**call, "outcome": plain(outcome)})
        return outcome

    def made(self, place: Place, trial: Trial) -> Trial:
        """Write down how the trial of ``place`` ended; ``trial`` without secrets, as it is to be kept."""
        trial = redacted(trial, self._redact)
        ended = {"success": trial.success, "is_error": trial.is_error, "error": trial.error}
        more = {"timestamp": trial.timestamp, "details": trial.details}
        mark = trial.fingerprint.digest if trial.fingerprint else ""
        kept = {"run": trial.run or self._run, "number": trial.number, "fingerprint": mark}
        self._write({"trial": {**ended, **more, **kept}, "at": place_data(place)})
        return trial

    def sync(self) -> None:
        """Make what is written last through a power cut."""
        if self._file is not None:
            self._file.sync()

    def _keep_call(self, call: Mapping[str, Any]) -> None:
        if (attempt := self._attempt()) is not None:
            self._write({"call": call, "at": place_data(attempt.place)})

    def _attempt(self) -> Attempt | None:
        """The attempt that is being made; its beginning is written down first."""
        attempt = current_attempt()
        if attempt is not None and attempt not in self._attempts:
            self.begin()
            self._attempts.add(attempt)
            self._write({"began": place_data(attempt.place)})
        return attempt

    def _write(self, line: Mapping[str, Any]) -> None:
        cleaned = clean(line, self._redact)
        with self._lock:
            if self._file is None:
                self._early.append(cleaned)
            else:
                self._file.append(cleaned)
