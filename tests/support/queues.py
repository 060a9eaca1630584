"""Queues in a database of PostgreSQL, what stands for models there, and a run that is put on one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from tests.support.postgres import POSTGRES, own_name, schema
from toolspan_bridge.events import Answer
from toolspan_bridge.messages import Usage
from toolspan_bridge.validation import Expect, Fingerprint, Scenario, Suite
from toolspan_bridge.validation.queue.parcel import PackedSuite, Parcel
from toolspan_bridge.validation.runs.lanes import Served
from toolspan_bridge.validation.runs.plan import Plan
from toolspan_bridge.validation.suites import Conversed

TOOLS = "the-hash-of-the-tools"

_numbers = count(1)


@contextmanager
def database() -> Generator[str]:
    """The URL of a new database, which is dropped at the end. Without PostgreSQL the test is skipped."""
    with schema(f"queue_{next(_numbers)}"):
        import psycopg

        name = own_name(f"toolspan_queue_{next(_numbers)}")
        with psycopg.connect(POSTGRES, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {name}".encode())
            try:
                yield f"{POSTGRES.rpartition('/')[0]}/{name}"
            finally:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def plan_of(scenarios: int, trials: int, models: tuple[str, ...] = ("near/model",)) -> Plan:
    """A plan with one suite, whose scenarios expect no call."""
    asked = [Scenario(query=f"Question {each}", expect=Expect(no_calls=True)) for each in range(scenarios)]
    return Plan(models, (Suite(name="sums", scenarios=tuple(asked)),), trials)


def parcel_for(plan: Plan, *, tools: str = TOOLS) -> Parcel:
    """What the queue has of a run of ``plan``."""
    suites = tuple(PackedSuite.of(suite) for suite in plan.suites)
    return Parcel(suites=suites, timeout=30.0, tools=tools, fingerprints={})


@dataclass
class Models:
    """Models that answer as they are told: ``raises`` is raised in place of the next answers, one each."""

    asked: list[str] = field(default_factory=list[str])
    raises: list[Exception] = field(default_factory=list[Exception])

    async def ask(self, model: str, scenario: Scenario) -> Conversed:
        self.asked.append(scenario.title)
        if self.raises:
            raise self.raises.pop()
        usage = Usage(input_tokens=1, output_tokens=1)
        return Conversed((Answer("Fine.", model, "near", (), usage, 1, usd=0.25),))

    async def fingerprint(self, model: str) -> Fingerprint:
        return Fingerprint(model=model)

    async def served(self, model: str) -> Served:
        return Served("near", "account")
