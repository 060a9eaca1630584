"""A store in PostgreSQL: made once, migrated, refused where it is another's, and its connection lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random

import psycopg
import pytest
from sqlalchemy import Engine
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.event import listen, remove

from tests.support import trial_writer
from tests.support.postgres import POSTGRES
from tests.support.stores import postgres_place
from tests.support.trials import a_trial
from tests.support.waiting import BOUND_S
from toolspan_bridge.errors import StoreError
from toolspan_bridge.validation import Store, read_choices, read_records
from toolspan_bridge.validation.storage.selections.selection import ALL

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.2.62")]
_NAMES = [f"{prefix}{number}" for prefix in "ab" for number in range(100)]
_V3 = (
    "CREATE TABLE {}.trials (id bigserial PRIMARY KEY, model_id text NOT NULL, suite text NOT NULL, scenario "
    "text NOT NULL, timestamp text NOT NULL, success integer NOT NULL, error text NOT NULL, details text NOT "
    "NULL, checksum bigint NOT NULL, fingerprint text NOT NULL DEFAULT '')",
    "CREATE INDEX trials_by_record ON {}.trials (model_id)",
    "CREATE TABLE {}.fingerprints (digest text PRIMARY KEY, parts text NOT NULL)",
    "CREATE TABLE {}.wordings (model_id text PRIMARY KEY, choice text NOT NULL)",
    "CREATE TABLE {}.toolspan_store_version (version_num varchar(32) PRIMARY KEY)",
    "INSERT INTO {}.toolspan_store_version VALUES ('0003')",
    "INSERT INTO {}.trials VALUES (DEFAULT, 'offline/keyword', 'default', 'weather in Paris', "
    "'2026-11-21T10:00:00.123Z', 1, '', '{\"query\":\"weather in Paris\"}', 620051584, '')",
)


@pytest.fixture
def url() -> Iterator[str]:
    with postgres_place() as url:
        yield url


def _connected(url: str) -> psycopg.Connection:
    return psycopg.connect(url, autocommit=True)


def test_where_there_is_no_store_reading_makes_none(url: str) -> None:
    assert (read_records(url), read_choices(url), Store.existing(url)) == ([], {}, None)
    with _connected(url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")
        assert tables.fetchone() == (0,)


def test_processes_that_open_a_new_database_at_once_make_one_store(url: str) -> None:
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            with Store.open(url) as store:
                store.append(a_trial(name))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    with Store.open(url) as store:
        assert sorted(trial.scenario for trial in store.trials()) == list("abcdef")


@pytest.mark.requirement("I14.2.63")
def test_a_store_of_an_earlier_version_is_migrated_with_nothing_lost() -> None:
    with postgres_place(*_V3) as url:
        with Store.open(url) as store:
            (trial,) = store.trials()
            (record,) = store.records()
            assert (trial.scenario, trial.run, record.counts.n) == ("weather in Paris", "", 1)
        with _connected(url) as connection:
            version = connection.execute("SELECT version_num FROM toolspan_store_version").fetchone()
        assert version == ("0004",)


@pytest.mark.requirement("I14.2.63")
def test_a_store_of_a_newer_version_is_refused(url: str) -> None:
    Store.open(url).close()
    with _connected(url) as connection:
        connection.execute("UPDATE toolspan_store_version SET version_num = '0007'")
    for read in (Store.open, read_records):
        with pytest.raises(StoreError, match=r"newer Toolspan \(store version 7, this one reads up to 4\)"):
            read(url)


@pytest.mark.requirement("I14.2.63")
def test_tables_of_another_program_are_refused_and_left_as_they_are() -> None:
    with postgres_place("CREATE TABLE {}.runs (name text)") as url:
        with pytest.raises(StoreError, match="another program has tables of these names: runs"):
            Store.open(url)
        with _connected(url) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            assert tables.fetchall() == [("runs",)]


@pytest.mark.requirement("I14.2.64")
@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgres:hunter2@127.0.0.1:1/test", "does the server run"),
        ("postgres:hunter2@127.0.0.1:5432/no_such_database", 'database "no_such_database" does not exist'),
        ("nobody:hunter2@127.0.0.1:5432/test", 'role "nobody" does not exist'),
        ("postgres:hunter2@127.0.0.1:5432/test?options=-csearch_path%3Dnowhere", "search_path names"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_with_the_reason_and_no_password(
    address: str, told: str
) -> None:
    with pytest.raises(StoreError) as refusal:
        Store.open(f"postgresql://{address}")
    message = refusal.value.message
    assert told in message and message.startswith("cannot open the validation store postgresql://")
    assert "hunter2" not in message and ":***@127.0.0.1" in message


@pytest.mark.requirement("I14.2.64")
def test_a_connection_that_the_server_ends_is_made_again(url: str) -> None:
    mine = f"toolspan-{os.getpid()}"
    with Store.open(f"{url}&application_name={mine}") as store:
        store.append(a_trial("before"))
        _end_connections(mine)
        store.append(a_trial("after"))
        _end_connections(mine)
        assert [trial.scenario for trial in store.trials()] == ["before", "after"]


@pytest.mark.requirement("I14.6.37")
def test_a_commit_whose_answer_is_lost_doubles_no_trial_of_a_run(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = replace(a_trial("right"), run="r", number=1)
    refused = replace(a_trial("refused", success=False, error="503"), is_error=True, run="r", number=2)
    commit, losses = psycopg.Connection.commit, [True]

    def lost(connection: psycopg.Connection) -> None:
        commit(connection)
        if losses:
            losses.pop()
            connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    with Store.open(url) as store:
        first = [replace(right, number=9), replace(refused, number=9), a_trial("of no run")]
        store.append_all(first)  # so that what they refer to is there
        monkeypatch.setattr(psycopg.Connection, "commit", lost)
        assert store.append_all([right, refused]) == [right, refused]
        store.append_all([refused])
        losses.append(True)
        with pytest.raises(StoreError, match="whether it is recorded is not known"):
            store.append(a_trial("of no run"))
        kept = sorted((each.scenario, each.number) for each in store.trials())
        twice = [("refused", 2), ("refused", 2)]
        assert kept == [*2 * [("of no run", 0)], *twice, ("refused", 9), ("right", 1), ("right", 9)]
        (record,) = store.records()
        assert (record.counts.n, record.counts.errors) == (4, 3)


@pytest.mark.requirement("I14.2.64")
def test_a_trial_that_cannot_be_written_is_told_as_not_recorded(url: str) -> None:
    with Store.open(url) as store:
        store.append(a_trial("before"))
        with _connected(url) as connection:
            connection.execute("ALTER TABLE fingerprints RENAME TO elsewhere")
            connection.execute("ALTER TABLE trials RENAME TO gone")
        with pytest.raises(
            StoreError, match=r"a table of the store is missing.*; this trial is not recorded"
        ):
            store.append(a_trial("after"))


@pytest.mark.requirement("I14.2.65")
def test_a_trial_that_was_altered_in_the_database_is_never_counted(url: str) -> None:
    with Store.open(url) as store:
        store.append_all([a_trial(f"t{number}") for number in range(3)])
        counts = store.records()[0].counts
        with _connected(url) as connection:
            connection.execute("UPDATE trials SET success = 0 WHERE scenario = 't1'")
            assert store.records()[0].counts == counts, "as they were written"
            with pytest.raises(StoreError, match="trial 2 is not as it was written"):
                store.trials()
            connection.execute("DELETE FROM trials WHERE scenario = 't1'")
            with pytest.raises(StoreError, match="trials that were written are missing"):
                store.trials()
            connection.execute("UPDATE cells SET successes = 0, n = 1 WHERE scenario = 't0'")
            with pytest.raises(StoreError, match="the counts of 'offline/keyword' are not as they were"):
                store.records()


def test_two_processes_writing_at_once_lose_nothing(url: str) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-P", str(trial_writer.__file__), "write", url, prefix, "100"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for prefix in "ab"
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    said = [writer.communicate("go\n", timeout=120)[0].splitlines() for writer in writers]
    written = [line for lines in said for line in lines if line.startswith("written ")]
    assert sorted(written) == sorted(f"written {name}" for name in _NAMES)
    with Store.open(url) as store:
        assert sorted(trial.scenario for trial in store.trials()) == sorted(_NAMES)
        assert store.records()[0].counts.n == 200


@pytest.mark.requirement("I14.6.35")
def test_writers_who_need_what_others_are_making_never_wait_for_each_other(url: str) -> None:
    deadlocks: list[str] = []

    def told(context: ExceptionContext) -> None:
        if getattr(context.original_exception, "sqlstate", "") == "40P01":
            deadlocks.append(str(context.original_exception))

    rounds, writers = 20, 4
    names = [[f"{number} of {turn}" for number in range(30)] for turn in range(rounds)]
    together = threading.Barrier(writers, timeout=BOUND_S)
    failed: list[BaseException] = []

    def write(writer: int, store: Store) -> None:
        try:
            for turn in range(rounds):
                mine = Random(writer * rounds + turn).sample(names[turn], 20)
                together.wait()
                for at in range(0, len(mine), 5):
                    store.append_all([a_trial(name) for name in mine[at : at + 5]])
        except BaseException as error:
            failed.append(error)
            together.abort()

    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(url)) for _ in range(writers)]
        listen(Engine, "handle_error", told)
        opened.callback(remove, Engine, "handle_error", told)
        threads = [threading.Thread(target=write, args=each) for each in enumerate(stores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (failed, deadlocks) == ([], [])
        assert (
            stores[0].totals("offline/keyword").test_count == len(stores[0].trials()) == writers * rounds * 20
        )


@pytest.mark.requirement("I14.6.35")
def test_a_cell_that_another_removed_is_made_again_for_the_next_trial(url: str, tmp_path: Path) -> None:
    with Store.open(url) as one, Store.open(url) as other:
        one.append_all([a_trial("kept"), a_trial("removed")])
        other.forget(lambda trial: trial.scenario == "removed", tmp_path)
        one.append_all([a_trial("kept"), a_trial("removed", success=False)])
        (record,) = other.records()
        assert {each.scenario: each.counts.n for each in record.summaries} == {"kept": 2, "removed": 1}
        assert len(other.trials()) == 3


@pytest.mark.requirement("I14.6.36")
def test_a_rehearsal_leaves_nothing_and_tells_what_cannot_be_written(url: str) -> None:
    with Store.open(url) as store:
        store.rehearse()
        assert (store.trials(), store.records()) == ([], [])
        with _connected(url) as connection:
            for table in ("trials", "cells", "fingerprints"):
                assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)
            connection.execute("ALTER TABLE trials DROP COLUMN details")
        with pytest.raises(StoreError, match="cannot write to the validation store"):
            store.rehearse()


def test_what_is_forgotten_is_in_a_store_of_sqlite_made_before(url: str, tmp_path: Path) -> None:
    with Store.open(url) as store:
        store.append_all([a_trial(name) for name in ("keep", "forget", "forget")])
        count, backup = store.forget(lambda trial: trial.scenario == "forget", tmp_path)
        assert count == 2 and backup is not None and backup.parent == tmp_path
        assert [trial.scenario for trial in store.trials()] == ["keep"]
        assert store.records()[0].counts.n == 1
    with Store.open(backup) as copy:
        assert [trial.scenario for trial in copy.trials()] == ["forget", "forget"]


@pytest.mark.requirement("I14.5.16")
def test_a_connection_that_is_lost_once_all_is_read_is_no_fault_of_the_report(url: str) -> None:
    mine = f"toolspan-{os.getpid()}"
    with Store.open(f"{url}&application_name={mine}") as store:
        store.append(a_trial("kept"))
        with store.snapshot() as snapshot:
            (record,) = snapshot.records(ALL)
            _end_connections(mine)
        assert record.counts.n == 1
        assert len(store.trials()) == 1, "the next reader gets another connection"


def test_a_run_is_held_by_one_at_a_time_and_free_after(url: str) -> None:
    with Store.open(url) as one, Store.open(url) as two:
        with one.hold("r1") as first, two.hold("r1") as second, two.hold("r2") as other:
            assert (first, second, other) == (True, False, True)
        with two.hold("r1") as again:
            assert again


def _end_connections(name: str) -> None:
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            (name,),
        )
