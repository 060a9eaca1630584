"""A recorded run again: models and tools answer as it is recorded, and nobody else is asked.

    replay = Replay(Recorded.read(Path("run.jsonl")), redact)
    async with Asker(config, replay.toolbox(), between=replaying(replay)) as asker: …

What a trial asks is looked for in the same place of the recorded run. What is not there is a fault of that
trial alone, told in words, and nothing is asked in its stead.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from typing_extensions import override

from toolspan_server.common.did_you_mean import nearest
from toolspan_server.engines.upstreams import ServerSpec

from ...conversation.message_json import plain
from ...errors import BridgeError, ProviderError, UsageError
from ...messages import Reply, Request, ToolOutcome, ToolSpec
from ...messages.deltas import Delta
from ...providers import Provider
from ...providers.contract import pieces
from ...providers.identity import Identified, Identity
from ...toolbox import Toolbox
from ...toolbox._ways import Make
from ...toolbox.connection import ToolConnection
from ...toolbox.outcomes import failed
from .._clean import Redact, clean
from ..runs.attempt import Place, current_attempt
from ..storage.trial import Trial
from .contents import Recorded, RecordedModel, RecordedServer
from .made import Kept, as_recorded, errors_before, not_recorded, run_of
from .records import redacted
from .replayed_trial import ReplayedTrial
from .requests import AskedBy

__all__ = ["Replay"]

_CUT = "the recorded trial was ended before there was an answer"
_NO_RESULT = "the recording has no result of this call"


class Replay:
    """The run of ``recorded`` again: the providers of its models, its tools, and the step that calls go
    through.

    ``redact`` takes the same secrets out as that of the recording. ``faults`` are what was asked and is not
    in it: a sentence for each trial that failed of it. ``kept`` says of each trial that was as recorded, by
    its run and number here, as what it is kept, and ``earlier`` which errors there were before it.
    """

    def __init__(self, recorded: Recorded, redact: Redact) -> None:
        self.recorded = recorded
        self.faults: list[str] = []
        self.kept: dict[tuple[str, int], Kept] = {}
        self.earlier: dict[tuple[str, int], list[tuple[Kept, Trial]]] = {}
        self._redact = redact
        self._by = AskedBy(redact)
        self._trials: dict[Place, ReplayedTrial] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to close."""

    def toolbox(self) -> Toolbox:
        """The recorded tools, as their servers listed them; no server is connected."""
        return Toolbox(_Listed(server) for server in self.recorded.servers.values())

    async def get(self, model: str) -> tuple[Provider, str]:
        """The recorded provider of ``provider/model``. Raises ``UsageError`` where the recording has none."""
        known = self.recorded.models
        if model not in known:
            raise UsageError(
                f"the recording {self.recorded.path} has no model {model!r} ({nearest(model, known)})"
            )
        return _Replayed(known[model], self), known[model].name

    def answer(self, request: Request) -> Reply:
        """The recorded answer to ``request``. Raises the recorded error, and ``ProviderError`` where the
        recording has none."""
        place = _place()
        trial = self._trial(place)
        found = trial.answer(self._by.asked(request), self._tools) if trial else None
        if isinstance(found, BridgeError):
            raise found
        if found is None:
            raise ProviderError(trial.fault or _CUT if trial else self._missing(place))
        return found

    async def through(
        self, spec: ToolSpec, arguments: Mapping[str, Any], call_id: str, make: Make
    ) -> ToolOutcome:
        """The recorded outcome of a call; it is never made."""
        del make
        trial = self._trial(_place())
        given = clean(plain(arguments), self._redact)
        found = trial.outcome(call_id, spec.key, given) if trial else None
        return found or failed(call_id, spec.name, _NO_RESULT, "no_result", "")

    def _trial(self, place: Place) -> ReplayedTrial | None:
        """The trial of ``place``; ``None`` where the recording has none."""
        if place not in self._trials and place in self.recorded.trials:
            self._trials[place] = ReplayedTrial(self.recorded.trials[place])
        return self._trials.get(place)

    def made(self, place: Place, trial: Trial) -> Trial:
        """``trial`` of ``place`` with the time and the measures of the recorded one; an error where
        anything that it asked is not in the recording."""
        again = self._trials.pop(place, None)
        recorded = self.recorded.trials.get(place)
        fault = again.fault if again else ""
        if recorded is None:
            fault = self._missing(place)
        elif recorded.end is None:
            fault = fault or "the recorded run was ended before this trial"
        trial = redacted(trial, self._redact)
        if fault or recorded is None:
            self.faults.append(f"{place.model}, {place.scenario!r}, trial {place.number}: {fault}")
            return not_recorded(trial, fault, recorded, self.recorded.started)
        end = recorded.end or {}
        self.kept[trial.run, trial.number] = Kept(run_of(trial, end), end["number"], recorded.order)
        if recorded.errors:
            self.earlier[trial.run, trial.number] = errors_before(trial, recorded)
        return as_recorded(trial, end, cut=again is not None and again.cut)

    def _missing(self, place: Place) -> str:
        same = [each for each in self.recorded.trials if each.model == place.model]
        if not same:
            return f"the recording has no trial of the model {place.model!r}"
        of_suite = [each for each in same if each.suite == place.suite]
        if not of_suite:
            suites = {each.suite for each in same}
            return f"the recording has no trial of the suite {place.suite!r} ({nearest(place.suite, suites)})"
        names = {each.scenario for each in of_suite}
        if place.scenario not in names:
            hint = nearest(place.scenario, names)
            return f"the recording has no scenario {place.scenario!r} ({hint})"
        return f"the recording has no trial {place.number} of this scenario"

    def _tools(self, digest: str) -> Any:
        return self._by.seen.get(digest) or self.recorded.offered.get(digest)


def _place() -> Place:
    attempt = current_attempt()
    if attempt is None:
        raise UsageError("a recording is of trials: nothing else can be asked of it")
    return attempt.place


class _Replayed(Provider, Identified):
    """The provider of a recorded model."""

    def __init__(self, model: RecordedModel, replay: Replay) -> None:
        self.name = model.provider
        self.format_name = model.format
        self.searches_tools = model.searches_tools
        self.price_share = model.price_share
        self._model = model
        self._replay = replay

    @override
    async def identity(self, model: str) -> Identity:
        """What was told of the model when it was recorded."""
        del model
        return self._model.identity

    @override
    def wire(self, model: str) -> Provider:
        """The provider in the wire format of ``model``."""
        del model
        return _Replayed(replace(self._model, format=self._model.identity.format_name), self._replay)

    @override
    async def answer(self, request: Request) -> Reply:
        """The recorded answer. Raises as ``Replay.answer``."""
        return self._replay.answer(request)

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The recorded answer, in one piece for its text and one for each call. Raises as ``answer``."""
        reply = self._replay.answer(request)
        for piece in pieces(reply):
            yield piece
        yield reply

    @override
    async def aclose(self) -> None:
        """There is nothing to close."""


class _Listed(ToolConnection):
    """A recorded server: its tools as it listed them. It is not connected."""

    def __init__(self, server: RecordedServer) -> None:
        super().__init__(ServerSpec(server.name, own=server.own), 0)
        self.tools = server.tools
        self.ready.set()
