"""One trial: a scenario, put to a model once, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio

from ...errors import ProviderError, UnknownModelError
from ...events import Answer
from ...providers.prices import usd_data
from ..fingerprint import Fingerprint, hash_of, toolspan_version
from ..offer import Offer
from ..storage.store import Store
from ..suites import Scenario, Suite

__all__ = [
    "AskModel",
    "AskOffering",
    "FingerprintOf",
    "Outcome",
    "TrialRunner",
    "hash_of_suite",
    "try_scenario",
]


class AskModel(Protocol):
    """Puts ``query`` to ``model`` (``provider/model``) with all tools, and gives the answer.

    Raises ``BridgeError``: what each means for the run is with ``validate``.
    """

    async def __call__(self, model: str, query: str) -> Answer: ...


class AskOffering(Protocol):
    """As ``AskModel``, with what ``offer`` has in place of the tools."""

    async def __call__(self, model: str, query: str, offer: Offer) -> Answer: ...


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
    ask_offering: AskOffering | None

    async def answer(self, model: str, scenario: Scenario) -> Answer:
        """What ``model`` makes of ``scenario``."""
        offer = scenario.offer
        if offer is None or self.ask_offering is None:
            return await self.ask(model, scenario.query)
        return await self.ask_offering(model, scenario.query, offer)

    async def fingerprint(self, model: str, suite: Suite) -> Fingerprint:
        """What is measured when ``suite`` is put to ``model``."""
        found = await self.fingerprint_of(model) if self.fingerprint_of else Fingerprint(model=model)
        return replace(found, suite=hash_of_suite(suite), toolspan=toolspan_version())


def _expectation(scenario: Scenario) -> dict[str, Any]:
    """What figures by tool and tag are made of: ``{"expected": {"calls" | "no_calls"}, "tags"}``."""
    expect = scenario.expect
    calls: dict[str, Any] = {"calls": [call.tool for call in expect.calls]} if expect.calls else {}
    expected = calls | ({"no_calls": True} if expect.no_calls else {})
    tags = [str(tag) for tag in getattr(scenario, "tags", ())]
    return ({"expected": expected} if expected else {}) | ({"tags": tags} if tags else {})


async def try_scenario(model: str, scenario: Scenario, bench: TrialRunner) -> Outcome:
    began = time.monotonic()
    answer: Answer | None = None
    error = f"no answer within {bench.timeout:g} s"
    try:
        with anyio.move_on_after(bench.timeout):
            answer = await bench.answer(model, scenario)
    except UnknownModelError:
        raise
    except ProviderError as failure:
        error = failure.message
    details: dict[str, Any] = {
        "scenario": scenario.title,
        "query": scenario.query,
        "duration_ms": round((time.monotonic() - began) * 1000),
        **_expectation(scenario),
    }
    if answer is None:
        return Outcome(False, error or "the provider gave an error without words", details)
    faults = scenario.faults_of(answer)
    rescued = sum(call.rescued for call in answer.tool_calls)
    measured = {"cost": usd_data(answer.usd), "rescued": rescued}
    return Outcome(not faults, "; ".join(faults), {**details, **measured, **answer.as_dict()})
