"""One trial: a scenario, put to a model once, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio

from ...errors import ProviderError, UnknownModelError
from ...providers.prices import usd_data
from ..fingerprint import Fingerprint, hash_of, toolspan_version
from ..storage.store import Store
from ..suites import Conversed, Scenario, Suite

__all__ = [
    "AskModel",
    "FingerprintOf",
    "Outcome",
    "TrialRunner",
    "hash_of_suite",
    "try_scenario",
]


class AskModel(Protocol):
    """Puts ``scenario`` to ``model`` (``provider/model``), and gives the answer to each turn.

    Raises ``BridgeError``: what each means for the run is with ``validate``.
    """

    async def __call__(self, model: str, scenario: Scenario) -> Conversed: ...


FingerprintOf = Callable[[str], Awaitable[Fingerprint]]
"""What is measured when a model (``provider/model``) is asked now. Raises as ``AskModel``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    success: bool
    error: str
    details: dict[str, Any]


def hash_of_suite(suite: Suite) -> str:
    """The hash of what ``suite`` asks and expects; its name has no part in it."""
    content: Any = suite.model_dump(exclude={"name"}, exclude_defaults=True)
    more = [each.identity for each in suite.scenarios if each.identity is not None]
    return hash_of([content, more] if more else content)


@dataclass(frozen=True, slots=True)
class TrialRunner:
    ask: AskModel
    store: Store
    timeout: float
    fingerprint_of: FingerprintOf | None

    async def fingerprint(self, model: str, suite: Suite) -> Fingerprint:
        """What is measured when ``suite`` is put to ``model``."""
        found = await self.fingerprint_of(model) if self.fingerprint_of else Fingerprint(model=model)
        return replace(found, suite=hash_of_suite(suite), toolspan=toolspan_version())


async def try_scenario(model: str, scenario: Scenario, bench: TrialRunner) -> Outcome:
    began = time.monotonic()
    answer: Conversed | None = None
    error = f"no answer within {bench.timeout:g} s"
    try:
        with anyio.move_on_after(bench.timeout):
            answer = await bench.ask(model, scenario)
    except UnknownModelError:
        raise
    except ProviderError as failure:
        error = failure.message
    details: dict[str, Any] = {
        **scenario.as_details(),
        "duration_ms": round((time.monotonic() - began) * 1000),
    }
    if answer is None:
        return Outcome(False, error or "the provider gave an error without words", details)
    faults = scenario.faults_of(answer)
    rescued = sum(call.rescued for call in answer.tool_calls)
    measured = {"cost": usd_data(answer.usd), "rescued": rescued}
    return Outcome(not faults, "; ".join(faults), {**details, **measured, **answer.as_dict()})
