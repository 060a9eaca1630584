"""What the endpoints of validation take and give."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ..endpoint import Answer, Values

Name = Annotated[str, Field(min_length=1, max_length=500)]


class RunRequest(Values):
    """What is to be run."""

    suites: list[Name] = Field(min_length=1, max_length=16, description="Names that /suites gives.")
    models: list[Name] = Field(min_length=1, max_length=16, description="provider/model.")
    modes: list[Literal["native", "prompt"]] = Field([], max_length=2)
    trials: int = Field(1, ge=1, le=100, description="How often each scenario is asked.")
    max_cost: float | None = Field(None, gt=0, le=1_000_000, description="US dollars.")
    max_time_s: float | None = Field(None, gt=0, le=86_400)


class RunInfo(Answer):
    """A run, and what came of it until now; ``run`` is its id in the store."""

    id: str
    run: str | None
    state: Literal["running", "stopping", "done", "cancelled", "failed"]
    suites: list[str]
    models: list[str]
    started: str
    ended: str | None
    total: int
    finished: int
    successes: int
    errors: int
    problem: str | None
    report: dict[str, Any] | None = Field(description="As validate --json, once the run has ended.")


class RunList(Answer):
    """The runs of the caller, the newest last."""

    runs: list[RunInfo]
    next_cursor: str | None


class StoredRun(Answer):
    """A run that the store has, whoever made it; ``finished`` is null while trials are missing."""

    run: str
    started: str
    finished: str | None
    models: list[str]
    suites: list[str]
    trials: int


class StoredRuns(Answer):
    """The last runs of the store, the latest first."""

    runs: list[StoredRun]


class StoredQuery(Values):
    """How many runs are wanted."""

    limit: int = Field(50, ge=1, le=500)


class SuiteInfo(Answer):
    """A suite; one that cannot be loaded has problems."""

    name: str
    scenarios: int
    problems: list[str]


class SuiteList(Answer):
    """The suites that can be run."""

    suites: list[SuiteInfo]
    next_cursor: str | None


class Matrix(Answer):
    """The last record of each model and suite."""

    threshold: float
    minimum: int
    models: list[str]
    suites: list[str]
    cells: list[dict[str, Any]]


class Chosen(Values):
    """Of which model and suite; without, of all."""

    model: str | None = Field(None, max_length=500)
    suite: str | None = Field(None, max_length=500)


class TrialsQuery(Chosen):
    """Which trials, and which part of them."""

    scenario: str | None = Field(None, max_length=2_000)
    run: str | None = Field(None, max_length=200, description="The id of a run in the store.")
    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = Field(None, max_length=20, pattern="^[0-9]+$")


class TrialList(Answer):
    """Trials with their transcripts, the oldest first."""

    trials: list[dict[str, Any]]
    next_cursor: str | None


class History(Answer):
    """Every record, the oldest first."""

    records: list[dict[str, Any]]


class Compared(Values):
    """Two runs of the store."""

    before: str = Field(min_length=1, max_length=200)
    after: str = Field(min_length=1, max_length=200)


class Comparison(Answer):
    """The cells that both runs have, and those that only one has."""

    alpha: float
    cells: list[dict[str, Any]]
    only_before: list[list[str]]
    only_now: list[list[str]]


class BadgeQuery(Values):
    """Whose badge."""

    model: Name
    suite: Name
