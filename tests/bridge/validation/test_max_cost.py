"""``--max-cost``: however many trials run at once, never a cent over it is paid."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from random import Random
from types import TracebackType

import pytest
from typing_extensions import override

from tests.support.obedient import Bill, Clock, Obedient
from toolspan_bridge import Asker, Expect, Provider, Scenario, Store, Suite, Toolbox, validate
from toolspan_bridge.errors import UsageError
from toolspan_bridge.messages import Reply, Request
from toolspan_bridge.messages.deltas import Delta
from toolspan_bridge.providers.prices import Pricing
from toolspan_bridge.validation import RunLimits
from toolspan_bridge.validation.between import Between
from toolspan_server import Config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.6.1")]

GPT = Pricing("openai", "gpt-5-mini")


class Paid(Obedient):
    """Answers as it comes, or breaks off; bills all of it."""

    name = "openai"
    most = 0
    running = 0

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            yield await self._ended(request)
        finally:
            self.running -= 1


class OneProvider:
    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def __aenter__(self) -> object:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def get(self, model: str) -> tuple[Provider, str]:
        return self._provider, model.partition("/")[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "validation.sqlite3") as store:
        yield store


SUITE = Suite(
    name="talk", scenarios=tuple(Scenario(query=f"Say {n}", expect=Expect(no_calls=True)) for n in range(6))
)


@pytest.mark.parametrize("seed", range(8))
async def test_many_trials_at_once_never_cost_a_cent_over_the_limit(seed: int, store: Store) -> None:
    dice, bill = Random(f"money {seed}"), Bill(Clock())
    usd = dice.choice((0.02, 0.05, 0.12))
    paid = Paid(dice, bill, GPT, lambda: None, ("answers", "counts nothing", "breaks off"))
    around = Between(around=lambda _: OneProvider(paid))
    async with Toolbox.connect([]) as toolbox, Asker(Config(), toolbox, between=around) as asker:
        limits = RunLimits(usd=usd)
        report = await validate(
            ["openai/gpt-5-mini"], SUITE, asker.ask, store, trials=5, concurrency=10, limits=limits
        )
    assert 0 < bill.total <= usd + 1e-9
    assert paid.most > 1  # they ran side by side
    assert report.ended == "max_cost" and report.missing > 0
    assert "--max-cost" in report.notices[-1] and "spent" in report.notices[-1]
    assert not any("length" in trial.error for trial in store.trials())


async def test_no_trial_is_failed_because_the_money_ended_in_the_midst_of_it(store: Store) -> None:
    dice, bill = Random("midst"), Bill(Clock())
    paid = Paid(dice, bill, GPT, lambda: None, ("answers",))
    around = Between(around=lambda _: OneProvider(paid))
    async with Toolbox.connect([]) as toolbox, Asker(Config(), toolbox, between=around) as asker:
        report = await validate(
            ["openai/gpt-5-mini"],
            SUITE,
            asker.ask,
            store,
            trials=5,
            concurrency=3,
            limits=RunLimits(usd=0.03),
        )
    assert {trial.success for trial in store.trials()} == {True}
    assert report.ended == "max_cost"


async def test_a_model_without_a_price_is_refused_under_a_limit(store: Store) -> None:
    dice, bill = Random("unknown"), Bill(Clock())
    paid = Paid(dice, bill, GPT, lambda: None, ("answers",))
    around = Between(around=lambda _: OneProvider(paid))
    async with Toolbox.connect([]) as toolbox, Asker(Config(), toolbox, between=around) as asker:
        with pytest.raises(UsageError, match=r"no price of openai/unheard-of is known.*--max-cost.*not hold"):
            await validate(["openai/unheard-of"], SUITE, asker.ask, store, limits=RunLimits(usd=1))
    assert bill.total == 0
