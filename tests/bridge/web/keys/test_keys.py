"""Virtual keys: made once, known by a hash, refused when they are over or not meant for a request."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import anyio
import pytest
from typing_extensions import override

from toolspan_bridge import Scripted
from toolspan_bridge.errors import StoreError, UnreachableError, UsageError
from toolspan_bridge.loop.limits.account import Held
from toolspan_bridge.loop.limits.charged import ChargedProvider
from toolspan_bridge.messages import Assistant, Reply, Request, Usage, User
from toolspan_bridge.providers.prices import Pricing
from toolspan_bridge.web.keys import KEYS_FILE, KeyLimits, KeyStore, VirtualKey, VirtualKeys
from toolspan_bridge.web.keys.refusals import (
    BudgetExceededError,
    ExpiredKeyError,
    ModelNotAllowedError,
    RateLimitedError,
    RevokedKeyError,
    ToolsetNotAllowedError,
    UnknownKeyError,
)
from toolspan_bridge.web.keys.spending import LEASE_SECONDS

NOON = 1_783_857_600.0  # 2026-07-12, 12:00 UTC
DAY = 86_400.0


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


def held(store: KeyStore, key: VirtualKey, tokens: int, usd: float) -> int:
    """The number of a request whose first turn holds so much."""
    number = store.ledger.admit(key)
    store.ledger.hold(key, number, Held(tokens, usd))
    return number


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[KeyStore]:
    with closing(KeyStore(tmp_path, clock)) as store:
        yield store


@pytest.mark.requirement("I15.3.40")
def test_a_key_is_known_again_and_stands_nowhere_on_the_disk(store: KeyStore, tmp_path: Path) -> None:
    key, secret = store.create("team", KeyLimits(models=("openai/*",)))
    assert store.authenticated(secret) == key
    assert secret.startswith("sk-toolspan-")
    store.close()
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    assert tmp_path / KEYS_FILE in files
    assert not any(
        secret.encode() in path.read_bytes() or secret[-43:].encode() in path.read_bytes() for path in files
    )
    if os.name == "posix":
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


@pytest.mark.requirement("I15.3.40")
def test_a_wrong_a_revoked_and_an_expired_key_are_refused_by_name(store: KeyStore, clock: Clock) -> None:
    _, secret = store.create("team", KeyLimits(), expires=NOON + DAY)
    other = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    for wrong in (other, "", "sk-toolspan", "sk-toolspan-000000000000-" + "A" * 43, "\ud800", secret + "\n"):
        with pytest.raises(UnknownKeyError) as unknown:
            store.authenticated(wrong)
        assert unknown.value.status == 401
    clock.now += DAY
    with pytest.raises(ExpiredKeyError, match=r"'team' expired on 2026-07-13T12:00:00Z"):
        store.authenticated(secret)
    store.revoke("team")
    with pytest.raises(RevokedKeyError, match="'team' was revoked"):
        store.authenticated(secret)


@pytest.mark.requirement("I15.3.40")
def test_a_key_that_is_revoked_elsewhere_is_refused_at_once(store: KeyStore, tmp_path: Path) -> None:
    _, secret = store.create("team", KeyLimits())
    with closing(KeyStore(tmp_path)) as elsewhere:
        assert elsewhere.authenticated(secret).name == "team"
        store.revoke("team")
        with pytest.raises(RevokedKeyError):
            elsewhere.authenticated(secret)


@pytest.mark.requirement("I15.3.40")
def test_no_two_keys_have_one_name(store: KeyStore) -> None:
    store.create("team", KeyLimits())
    with pytest.raises(UsageError, match="there is a key 'team' already"):
        store.create("team", KeyLimits())
    assert [key.name for key in store.all()] == ["team"]
    with pytest.raises(UsageError, match="there is no key 'nobody'"):
        store.get("nobody")


@pytest.mark.requirement("I15.3.41")
def test_a_key_asks_only_its_models_and_toolsets(store: KeyStore) -> None:
    key, _ = store.create(
        "team", KeyLimits(models=("openai/gpt-5*", "offline/keyword"), toolsets=("read", "write"))
    )
    key.check_model("openai/gpt-5-mini")
    key.check_model("Offline/keyword")
    with pytest.raises(ModelNotAllowedError, match="may not ask anthropic/claude"):
        key.check_model("anthropic/claude")
    assert (key.toolset(""), key.toolset("write")) == ("read", "write")
    with pytest.raises(ToolsetNotAllowedError, match="'admin'"):
        key.toolset("admin")
    free, _ = store.create("free", KeyLimits())
    assert (free.toolset(""), free.toolset("any")) == ("", "any")
    assert free.allows_model("x/y")


@pytest.mark.requirement("I15.3.42")
def test_more_requests_than_a_minute_allows_are_told_when_to_come_again(
    store: KeyStore, clock: Clock
) -> None:
    key, _ = store.create("team", KeyLimits(requests_per_minute=2))
    store.ledger.release(store.ledger.admit(key))
    clock.now += 20
    store.ledger.admit(key)
    with pytest.raises(RateLimitedError) as refused:
        store.ledger.admit(key)
    assert (refused.value.status, refused.value.retry_after) == (429, 40.0)
    clock.now += 40.001
    store.ledger.admit(key)
    with pytest.raises(RateLimitedError):
        store.ledger.admit(key)


@pytest.mark.requirement("I15.3.42")
def test_tokens_of_a_minute_count_as_they_were_used_and_not_as_they_were_estimated(
    store: KeyStore, clock: Clock
) -> None:
    key, _ = store.create("team", KeyLimits(tokens_per_minute=1_000))
    first = held(store, key, 900, 0.0)
    with pytest.raises(RateLimitedError) as refused:
        held(store, key, 200, 0.0)
    assert refused.value.retry_after == 60.0
    store.ledger.settle(key, first, Held(900, 0.0), 100, 0.0)
    store.ledger.hold(key, first, Held(40, 0.0))
    store.ledger.settle(key, first, Held(40, 0.0), 50, 0.0)
    store.ledger.release(first)
    held(store, key, 850, 0.0)
    with pytest.raises(RateLimitedError, match="may take 1,001 tokens") as never:
        held(store, key, 1_001, 0.0)
    assert never.value.retry_after is None
    clock.now += 61
    held(store, key, 1_000, 0.0)
    assert store.ledger.spent(key).tokens == 150


@pytest.mark.requirement("I24.6.1")
def test_each_turn_counts_for_a_minute_of_its_own_however_long_its_request_runs(
    store: KeyStore, clock: Clock
) -> None:
    key, _ = store.create("team", KeyLimits(tokens_per_minute=1_000))
    long = held(store, key, 900, 0.0)
    store.ledger.settle(key, long, Held(900, 0.0), 10, 0.0)
    clock.now += 61
    store.ledger.hold(key, long, Held(900, 0.0))
    clock.now += 30
    store.ledger.settle(key, long, Held(900, 0.0), 900, 0.0)
    for number in (long, store.ledger.admit(key)):
        with pytest.raises(RateLimitedError) as refused:
            store.ledger.hold(key, number, Held(200, 0.0))
        assert refused.value.retry_after == 60.0
    clock.now += 60
    store.ledger.hold(key, long, Held(1_000, 0.0))
    store.ledger.release(long)  # what it held and did not take is free
    held(store, key, 1_000, 0.0)


@pytest.mark.requirement("I24.6.1")
@pytest.mark.anyio
@pytest.mark.parametrize("end", ["given up", "lost", "broken off"])
async def test_an_answer_that_did_not_come_whole_takes_the_tokens_that_were_held(
    store: KeyStore, tmp_path: Path, clock: Clock, end: str
) -> None:
    patience = anyio.CancelScope()

    class Ending(Scripted):
        @override
        async def answer(self, request: Request) -> Reply:
            assert request.meter is not None
            await request.meter.sends(b"{}", request.max_tokens)
            if end == "lost":
                raise UnreachableError("the connection broke")
            if end == "given up":
                patience.cancel()
                await anyio.sleep_forever()
            return Reply(Assistant("It"), "other", Usage(4, 1), incomplete=True)

    key, _ = store.create("team", KeyLimits(tokens_per_minute=3_000))
    with closing(VirtualKeys(tmp_path, clock)) as keys, patience, suppress(UnreachableError):
        async with keys.admitted(key) as admission:
            provider = ChargedProvider(Ending([]), admission, lambda _: Pricing("openai", "gpt-4o"))
            await provider.answer(Request("m", (User("hi"),), max_tokens=2_500))
    assert store.ledger.spent(key).tokens > 2_500


@pytest.mark.requirement("I15.3.43")
def test_a_budget_ends_with_its_day_its_month_and_never(store: KeyStore, clock: Clock) -> None:
    day, _ = store.create("day", KeyLimits(usd_per_day=1.0))
    month, _ = store.create("month", KeyLimits(usd_per_month=1.0))
    whole, _ = store.create("whole", KeyLimits(usd_in_all=1.0))
    for key, after in ((day, DAY / 2), (month, 19.5 * DAY), (whole, None)):
        number = held(store, key, 10, 0.9)
        store.ledger.settle(key, number, Held(10, 0.9), 10, 1.0)
        store.ledger.release(number)
        with pytest.raises(BudgetExceededError, match="is spent") as refused:
            held(store, key, 10, 0.01)
        assert (refused.value.status, refused.value.retry_after) == (402, after)
        held(store, key, 10, 0.0)  # what costs nothing needs no budget
    clock.now += DAY / 2
    held(store, day, 10, 0.5)
    clock.now += 19 * DAY
    held(store, month, 10, 0.5)
    with pytest.raises(BudgetExceededError):
        held(store, whole, 10, 0.5)


@pytest.mark.requirement("I15.3.43")
def test_requests_that_run_hold_their_share_of_the_budget_until_they_end(store: KeyStore) -> None:
    key, _ = store.create("team", KeyLimits(usd_in_all=1.0))
    first = held(store, key, 0, 0.6)
    with pytest.raises(RateLimitedError, match="requests that run") as refused:
        held(store, key, 0, 0.6)
    assert refused.value.retry_after == 1.0
    with pytest.raises(BudgetExceededError, match=r"may cost \$1.200000, and \$1.000000 are left"):
        held(store, key, 0, 1.2)
    store.ledger.settle(key, first, Held(0, 0.6), 5, 0.1)
    spent = store.ledger.spent(key)
    assert (spent.usd_in_all, spent.usd_held, spent.requests, spent.tokens) == (0.1, 0.0, 3, 5)
    store.ledger.hold(key, first, Held(0, 0.9))
    assert store.ledger.left(key) == 0.0
    store.ledger.release(first)
    held(store, key, 0, 0.9)


@pytest.mark.requirement("I15.3.43")
def test_a_request_that_is_never_heard_of_again_counts_with_what_it_held(
    store: KeyStore, clock: Clock
) -> None:
    key, _ = store.create("team", KeyLimits(usd_in_all=1.0))
    held(store, key, 0, 0.7)
    clock.now += LEASE_SECONDS
    spent = store.ledger.spent(key)
    assert (spent.usd_in_all, spent.usd_held) == (0.7, 0.0)
    assert store.ledger.spent(key) == spent


@pytest.mark.requirement("I15.3.43")
@pytest.mark.anyio
async def test_a_request_goes_through_its_key_and_leaves_nothing_held(
    store: KeyStore, tmp_path: Path, clock: Clock
) -> None:
    keys = VirtualKeys(tmp_path, clock)
    _, secret = store.create("team", KeyLimits(usd_in_all=1.0))
    key = await keys.authenticate(secret)
    with pytest.raises(RuntimeError, match="broke"):
        async with keys.admitted(key) as admission:
            await admission.hold(Held(10, 0.4))
            await admission.settle(Held(10, 0.4), Held(12, 0.25))
            await admission.hold(Held(10, 0.4))
            raise RuntimeError("broke")
    async with keys.admitted(key) as admission:
        assert admission.left_usd == 0.75
        with pytest.raises(ValueError, match="no amount of money"):
            await admission.hold(Held(10, float("nan")))
    spent = store.ledger.spent(key)
    assert (spent.usd_held, spent.usd_in_all, spent.tokens, spent.requests) == (0.0, 0.25, 12, 2)
    keys.close()


@pytest.mark.requirement("I15.3.40")
@pytest.mark.anyio
async def test_where_no_key_was_ever_made_none_is_known_and_no_file_is_made(tmp_path: Path) -> None:
    keys = VirtualKeys(tmp_path)
    with pytest.raises(UnknownKeyError):
        await keys.authenticate("sk-toolspan-000000000000-" + "A" * 43)
    assert [each async for each in anyio.Path(tmp_path).iterdir()] == []
    with closing(KeyStore(tmp_path)) as store:
        _, secret = store.create("team", KeyLimits())
    assert (await keys.authenticate(secret)).name == "team"
    keys.close()


@pytest.mark.requirement("I15.3.40")
def test_a_key_that_is_revoked_while_its_request_runs_gets_no_further_turn(store: KeyStore) -> None:
    key, _ = store.create("team", KeyLimits())
    number = held(store, key, 10, 0.0)
    store.revoke("team")
    with pytest.raises(RevokedKeyError, match="'team' was revoked"):
        store.ledger.hold(key, number, Held(10, 0.0))


@pytest.mark.requirement("I15.3.43")
def test_a_turn_after_a_pause_in_which_its_request_was_taken_for_lost_holds_its_share(
    store: KeyStore, clock: Clock
) -> None:
    key, _ = store.create("team", KeyLimits(usd_in_all=1.0))
    number = held(store, key, 0, 0.0)
    clock.now += LEASE_SECONDS + 1
    for _ in range(2):  # forgotten by the second one
        store.ledger.admit(key)
        clock.now += 61
    store.ledger.hold(key, number, Held(0, 0.8))
    assert store.ledger.spent(key).usd_held == pytest.approx(0.8)
    with pytest.raises(RateLimitedError, match="requests that run"):
        held(store, key, 0, 0.3)


@pytest.mark.requirement("I15.3.40")
def test_a_file_that_is_none_of_ours_is_left_alone(tmp_path: Path) -> None:
    import sqlite3

    def other(text: str) -> Callable[[], None]:
        def make() -> None:
            (tmp_path / KEYS_FILE).write_text(text)

        return make

    other("this is no database, but it is long enough to be looked at as one " * 20)()
    with pytest.raises(StoreError, match=r"cannot open the virtual keys in .*keys.sqlite3"):
        KeyStore(tmp_path)
    (tmp_path / KEYS_FILE).unlink()
    with closing(sqlite3.connect(tmp_path / KEYS_FILE)) as database:
        database.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="another program's database"):
        KeyStore(tmp_path)
    with closing(sqlite3.connect(tmp_path / KEYS_FILE)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"newer Toolspan \(version 99"):
        KeyStore(tmp_path)
