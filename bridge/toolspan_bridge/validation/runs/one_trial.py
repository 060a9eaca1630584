"""One trial: a scenario, put to a model once, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ...errors import ProviderError, UnknownModelError
from ...formats.prompt.rescue import UNREAD
from ...loop.limits import Clock
from ...providers.http.retry import while_held_back
from ...providers.prices import usd_data
from ..fingerprint import Fingerprint, hash_of_offers, toolspan_version
from ..storage.trial import Trial, timestamp
from ..suites import Conversed, Scenario, Suite
from .attempt import Place, attempt_at
from .observed import Observed, observing
from .plan import Cell

__all__ = ["AskModel", "FingerprintOf", "Fingerprints", "MadeTrial", "as_made", "run_cell"]

_UNREAD = "the model's calls were left as text: the server has no parser for them, or prompt: is to be tried"
_NOT_ENDED = ("incomplete", "error")
_SERVER_DIED = "server_unavailable"


class AskModel(Protocol):
    """Puts ``scenario`` to ``model`` (``provider/model``), and gives the answer to each turn.

    Raises ``BridgeError``: what each means for the run is with ``validate``.
    """

    async def __call__(self, model: str, scenario: Scenario) -> Conversed: ...


MadeTrial = Callable[[Place, Trial], Trial]
"""What is kept of the trial that was made in a place."""


def as_made(place: Place, trial: Trial) -> Trial:
    """``trial``, as it was made."""
    del place
    return trial


FingerprintOf = Callable[[str], Awaitable[Fingerprint]]
"""What is measured when a model (``provider/model``) is asked now. Raises as ``AskModel``."""


@dataclass(slots=True)
class Fingerprints:
    """The fingerprint of each model with each suite, asked for once; ``hashes`` are those of the suites, by
    their names."""

    of_model: FingerprintOf | None
    hashes: Mapping[str, str]
    _models: dict[str, Fingerprint] = field(default_factory=dict[str, Fingerprint], init=False)
    _whole: dict[tuple[str, str], Fingerprint] = field(
        default_factory=dict[tuple[str, str], Fingerprint], init=False
    )

    async def model(self, model: str) -> Fingerprint:
        """What is measured of ``model``, whatever the suite. Raises as ``FingerprintOf``."""
        if model not in self._models:
            found = await self.of_model(model) if self.of_model else Fingerprint(model=model)
            self._models[model] = replace(found, toolspan=toolspan_version())
        return self._models[model]

    async def get(self, model: str, suite: Suite) -> Fingerprint:
        """What is measured when ``suite`` is put to ``model``. Raises as ``FingerprintOf``."""
        key = (model, suite.name)
        if key not in self._whole:
            found = replace(await self.model(model), suite=self.hashes[suite.name])
            own = suite.own_tools
            self._whole[key] = found if own is None else replace(found, tools=hash_of_offers(own))
        return self._whole[key]


async def run_cell(
    cell: Cell, ask: AskModel, fingerprints: Fingerprints, timeout: float, run: str = ""
) -> Trial:
    """Make the trial of ``cell``, in at most ``timeout`` seconds; the waits for a provider's rate limit are
    not among them. It has the id of ``run``, and is not in a store yet.

    An error of the provider, also one that breaks an answer off, a provider that is silent for the whole
    time, and a tool's server that died in a trial which then was no success are errors of the trial, not
    failures of the model.

    Raises ``AuthError``, ``UnreachableError`` (also for a provider that takes no request for long, whatever
    the pace) and ``UnknownModelError``: they would end every trial of the model.
    """
    mark = await fingerprints.get(cell.model, cell.suite)
    clock = Clock(timeout)
    observed = Observed(lambda: clock.elapsed)
    conversed, error = None, ""
    try:
        with _set_up(cell.place, clock, observed), clock.running():
            conversed = await ask(cell.model, cell.scenario)
    except UnknownModelError:
        raise
    except ProviderError as failure:
        error = failure.message or "the provider gave an error without words"
    faults = await cell.scenario.verdict(conversed) if conversed is not None else ()
    outcome = _outcome(faults, conversed, error, observed, timeout)
    details = {**cell.scenario.as_details(), **_measured(clock, observed), **outcome.details}
    return Trial(
        cell.model,
        cell.suite.name,
        cell.scenario.title,
        timestamp(),
        outcome.success,
        outcome.error,
        details,
        mark,
        is_error=outcome.is_error,
        run=run,
        number=cell.number,
    )


@contextmanager
def _set_up(place: Place, clock: Clock, observed: Observed) -> Generator[None]:
    seen, held = observing.set(observed), while_held_back.set(clock.stopped)
    try:
        with attempt_at(place):
            yield
    finally:
        while_held_back.reset(held)
        observing.reset(seen)


@dataclass(frozen=True, slots=True)
class _Outcome:
    success: bool
    error: str
    details: Mapping[str, Any]
    is_error: bool = False


def _outcome(
    faults: tuple[str, ...], conversed: Conversed | None, error: str, observed: Observed, timeout: float
) -> _Outcome:
    if error:
        return _Outcome(False, error, {}, is_error=True)
    if conversed is None:
        silent = observed.is_watched and observed.first is None
        late = f"{'nothing came' if silent else 'no answer'} within {timeout:g} s"
        return _Outcome(False, late, {}, is_error=silent)
    rescued = sum(call.rescued for call in conversed.tool_calls)
    details = {"cost": usd_data(conversed.usd), "rescued": rescued, **conversed.as_dict()}
    broken = _broke_off(conversed) or (_died(conversed) if faults else "")
    if broken:
        return _Outcome(False, broken, details, is_error=True)
    if faults and any(UNREAD in answer.notes for answer in conversed.answers):
        faults = (_UNREAD, *faults)
    return _Outcome(not faults, "; ".join(faults), details)


def _broke_off(conversed: Conversed) -> str:
    """What is said of an answer that the provider did not bring to its end; empty where there is none."""
    return next((answer.reason for answer in conversed.answers if answer.stop in _NOT_ENDED), "")


def _died(conversed: Conversed) -> str:
    """What is said of a tool's server that did not answer; empty where each did."""
    for call in conversed.tool_calls:
        if call.result.get("error_code") == _SERVER_DIED:
            return f"the server of the tool {call.tool} did not answer: {call.result.get('error', '')}"
    return ""


def _measured(clock: Clock, observed: Observed) -> dict[str, Any]:
    """``{"duration_ms", "ttft_ms", "losses"}``, milliseconds; ``ttft_ms`` until the first token, where there
    was one, and ``losses`` where there are any."""
    measured: dict[str, Any] = {"duration_ms": round(clock.elapsed * 1000)}
    if observed.first is not None:
        measured["ttft_ms"] = round(observed.first * 1000)
    return measured | ({"losses": dict(observed.losses)} if observed.losses else {})
