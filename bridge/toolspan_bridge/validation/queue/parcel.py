"""What is put on a queue: data that is checked when it is read, of which nothing is run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...errors import StoreError, UsageError
from ...messages import ReasoningEffort
from ..bfcl import BfclCase, BfclSuite, suite_of
from ..bfcl.asked import BfclScenario
from ..bfcl.multi_turn import ConversationCase, ConversationScenario
from ..runs.plan import Plan, hash_of_suite
from ..suites import Suite

__all__ = ["Batch", "PackedSuite", "Parcel", "batches", "lane_name"]

_MOST_IN_A_BATCH = 100
_BATCHES = 64
_UNREADABLE = "what the queue has of the run cannot be read"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Batch(_Data):
    """A job: the planned trials of a run with these ``numbers``, all of the same model."""

    run: Annotated[str, Field(min_length=1, max_length=128)]
    numbers: Annotated[tuple[int, ...], Field(min_length=1, max_length=_MOST_IN_A_BATCH)]


class PackedSuite(_Data):
    """A suite as data: as in a file, or the cases of the function-calling leaderboard."""

    name: str
    kind: Literal["suite", "bfcl"]
    content: Any

    @classmethod
    def of(cls, suite: Suite) -> Self:
        """``suite`` as data. Raises ``UsageError`` where data would not be the same suite."""
        ours = (BfclScenario, ConversationScenario)
        cases = [each.case for each in suite.scenarios if isinstance(each, ours)]
        if cases:
            packed = cls(name=suite.name, kind="bfcl", content=[asdict(case) for case in cases])
        else:
            content = suite.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            packed = cls(name=suite.name, kind="suite", content=content)
        if hash_of_suite(packed.suite) != hash_of_suite(suite):
            raise UsageError(f"the suite {suite.name!r} cannot be put on a queue: run it without --queue")
        return packed

    @property
    def suite(self) -> Suite:
        """The suite. Raises ``ValueError`` where the data is none."""
        if self.kind == "suite":
            return Suite.model_validate(self.content)
        cases = [_case(each) for each in self.content]
        return suite_of(BfclSuite(self.name, {case.id: case for case in cases}))


def _case(parts: Mapping[str, Any]) -> BfclCase | ConversationCase:
    """The case that ``asdict`` gave ``parts`` of. Raises as ``ConversationCase.of_data``."""
    if "queries" in parts:
        return ConversationCase.of_data(parts)
    named: dict[str, Any] = {**parts, "messages": tuple(parts["messages"])}
    return BfclCase(**named)


class Parcel(_Data):
    """What workers need of a run, beside what the store has of it: ``suites``, how long a trial may take, how
    much models are to think, the hash of the offered ``tools``, and the parts of each model's fingerprint
    that were known."""

    suites: tuple[PackedSuite, ...]
    timeout: float
    reasoning: ReasoningEffort | None = None
    tools: str
    fingerprints: dict[str, dict[str, str]]

    @classmethod
    def read(cls, text: str) -> Self:
        """The parcel that ``text`` is. Raises ``StoreError``."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(str(part) for part in fault["loc"])
            raise StoreError(f"{_UNREADABLE}: {place}: {fault['msg']}") from None

    def plan(self, contents: Mapping[str, Any]) -> Plan:
        """The plan of the run with these ``contents`` in the store. Raises ``StoreError`` where the suites
        are not those."""
        try:
            suites = tuple(each.suite for each in self.suites)
            plan = Plan(tuple(contents["models"]), suites, int(contents["trials"]))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{_UNREADABLE}: {error}") from None
        if plan.suite_hashes != contents["suites"]:
            raise StoreError("the suites on the queue are not those of the run in the store")
        return plan


def lane_name(run: str, model: int) -> str:
    """The name of procrastinate's queue for the trials of a run with the model of that index in its plan.

    It has at most 40 characters: PostgreSQL takes no longer name of a channel than 63, and 23 are before it.
    """
    return f"ts/{run}/{model}"


def batches(run: str, plan: Plan, done: frozenset[int]) -> Iterator[tuple[str, Batch]]:
    """What is left of ``plan`` as jobs, each with the name of its queue.

    A job costs a worker a few milliseconds beside its trials, and all that it has are its own until they are
    made: of many trials there are several in one, but not so many that others would wait for it at the end.
    """
    left = [[cell.number for cell in plan.cells(model) if cell.number not in done] for model in plan.models]
    size = min(_MOST_IN_A_BATCH, math.ceil(sum(map(len, left)) / _BATCHES) or 1)
    for index, numbers in enumerate(left):
        for start in range(0, len(numbers), size):
            yield lane_name(run, index), Batch(run=run, numbers=tuple(numbers[start : start + size]))
