"""``sql_query`` on SQLite and PostgreSQL: bound values, read-only held, limits, values, errors."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.executors import tool
from tests.support.postgres import POSTGRES, own_name, schema
from tests.support.waiting import BOUND_S
from toolspan_server import Config, ConfigError, Executor, Registry, load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Surroundings
from toolspan_server.calls.results import ToolResult
from toolspan_server.engines.databases._statement import is_safe_on
from toolspan_server.parts.environment import Environment

pytestmark = pytest.mark.requirement("I4.2.7")

PEOPLE = f"{own_name('toolspan_sql')}.people"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
HOSTILE = ["'; DROP TABLE people; --", "\\' OR 1=1 --", "%", "x' UNION SELECT 1 --", ":id", "\u2019", "a\nb"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    with sqlite3.connect(folder / "data.db") as connection:
        connection.executescript(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, photo BLOB, size REAL);
            INSERT INTO people VALUES (1, 'Ada', x'00ff', 1.5), (2, 'Bob', NULL, 9e999);
            INSERT INTO people VALUES (3, 'Cid', NULL, NULL);
            """
        )
    return folder


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with schema(
        "toolspan_sql",
        """CREATE TABLE {}.people (id int PRIMARY KEY, name text, born date, at timestamptz,
             worth numeric, key uuid, tags text[], data jsonb, photo bytea)""",
        """INSERT INTO {}.people VALUES (1, 'Ada', '1815-12-10', '2026-01-02T03:04:05Z', 12.50,
             '00000000-0000-0000-0000-000000000001', '{a,b}', '{"x": [1]}', '\\x00ff'),
             (2, 'Bob', NULL, NULL, 12345678901234567890.123, NULL, NULL, NULL, NULL)""",
    ):
        yield POSTGRES


def sql(statement: str, **options: Any) -> dict[str, Any]:
    given = {"database": "main", "statement": statement, **options}
    return tool("q", {"type": "internal", "handler": "sql_query", "options": given})


def ask(
    url: str | Path, statement: str, arguments: dict[str, Any] | None = None, **options: Any
) -> ToolResult:
    """The result of one call on a server of its own; ``url`` may be the folder of the SQLite file."""
    folder = url if isinstance(url, Path) else Path()
    written = "sqlite:///data.db" if isinstance(url, Path) else url
    config = Config.model_validate(
        {
            "services": {"databases": {"main": {"url": written}}},
            "tools": {"registry": [sql(statement, **options)]},
        }
    )
    environment = Environment(folder, folder)
    services = {name: each.build(environment) for name, each in config.services.configured().items()}
    executor = Executor(Registry.from_config(config), surroundings=Surroundings(services=services))
    try:
        return asyncio.run(asyncio.wait_for(executor.execute("q", arguments or {}, LOCAL), BOUND_S))
    finally:
        for database in services["databases"]._databases.values():
            database.close()


def rows(*given: Any, **options: Any) -> Any:
    result = ask(*given, **options)
    assert result.success, result
    json.dumps(result.result, allow_nan=False)
    return result.result["rows"]


def test_rows_are_objects_of_json_values(folder: Path) -> None:
    result = ask(folder, "SELECT * FROM people ORDER BY id")
    assert result.result == {
        "rows": [
            {"id": 1, "name": "Ada", "photo": "AP8=", "size": 1.5},
            {"id": 2, "name": "Bob", "photo": None, "size": None},
            {"id": 3, "name": "Cid", "photo": None, "size": None},
        ],
        "row_count": 3,
        "truncated": False,
    }


@pytest.mark.parametrize("value", HOSTILE)
def test_arguments_are_values_whatever_they_hold(folder: Path, value: str) -> None:
    found = rows(
        folder, "SELECT :name AS name, count(*) AS n FROM people WHERE name = :name", {"name": value}
    )
    assert found == [{"name": value, "n": 0}]


def test_an_absent_argument_is_null_a_list_its_values_and_an_object_its_json(folder: Path) -> None:
    assert rows(folder, "SELECT :gone IS NULL AS gone", {}) == [{"gone": 1}]
    by_ids = "SELECT name FROM people WHERE id IN :ids ORDER BY id"
    assert rows(folder, by_ids, {"ids": [1, 3, "2; DROP"]}) == [{"name": "Ada"}, {"name": "Cid"}]
    assert rows(folder, by_ids, {"ids": []}) == []
    assert rows(folder, "SELECT :o AS o", {"o": {"a": [1]}}) == [{"o": '{"a": [1]}'}]


def test_columns_of_one_name_are_all_there(folder: Path) -> None:
    assert rows(folder, "SELECT 1 AS a, 2 AS a, 3 AS a_2") == [{"a": 1, "a_2": 2, "a_2_2": 3}]


def test_more_rows_than_the_limit_are_left_out_and_said_to_be(folder: Path) -> None:
    result = ask(folder, "SELECT id FROM people ORDER BY id", max_rows=2).result
    assert result == {"rows": [{"id": 1}, {"id": 2}], "row_count": 2, "truncated": True}
    assert ask(folder, "SELECT id FROM people", max_rows=3).result["truncated"] is False


WRITES = [
    "WITH gone AS (SELECT 1) DELETE FROM people",
    "WITH new AS (SELECT 9) INSERT INTO people (id) SELECT * FROM new",
]


@pytest.mark.parametrize("statement", WRITES)
def test_sqlite_itself_refuses_to_write_unless_the_statement_may(folder: Path, statement: str) -> None:
    refused = ask(folder, statement)
    assert refused.error_code == "database_error"
    assert "readonly" in refused.error or "not authorized" in refused.error
    assert rows(folder, "SELECT count(*) AS n FROM people") == [{"n": 3}]


@pytest.mark.parametrize("statement", ["ATTACH DATABASE 'other.db' AS o", "PRAGMA journal_mode = DELETE"])
def test_a_statement_that_may_write_cannot_leave_its_file(folder: Path, statement: str) -> None:
    assert "not authorized" in ask(folder, statement, read_only=False).error
    assert not (folder / "other.db").exists()


def test_a_statement_that_may_write_is_committed_and_a_failed_one_is_not(folder: Path) -> None:
    with sqlite3.connect(folder / "data.db") as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    insert = "INSERT INTO notes (text) VALUES (:text)"
    assert ask(folder, insert, {"text": "a"}, read_only=False).result == {"rows_affected": 1}
    returning = ask(folder, insert + " RETURNING id", {"text": "b"}, read_only=False).result
    assert returning["rows"] == [{"id": 2}]
    failed = ask(folder, insert, {}, read_only=False)
    assert (failed.error_code, "NOT NULL" in failed.error) == ("database_error", True)
    assert rows(folder, "SELECT text FROM notes") == [{"text": "a"}, {"text": "b"}]


def test_a_statement_ends_with_its_time_on_sqlite(folder: Path) -> None:
    late = ask(folder, ENDLESS, timeout_ms=100)
    assert (late.error_code, late.error) == ("timeout", "The statement took longer than 100 ms")


def test_a_statement_ends_when_nobody_waits_for_it_any_more(folder: Path) -> None:
    from toolspan_server.engines.databases._database import Database, Statement
    from toolspan_server.errors import ToolFailure

    database = Database("main", "sqlite:///data.db", folder, 1)
    with pytest.raises(ToolFailure, match="took longer"):
        database.run(Statement(ENDLESS, True, 10, 60_000), {}, lambda: True)
    assert database.run(Statement("SELECT 1 AS a", True, 10, 1_000), {}, lambda: False)["rows"] == [{"a": 1}]
    database.close()


def test_a_missing_file_is_no_new_database(tmp_path: Path) -> None:
    for read_only in (True, False):
        failed = ask(tmp_path, "SELECT 1", read_only=read_only)
        assert (failed.error_code, failed.error) == (
            "database_unavailable",
            "Database 'main' cannot be reached",
        )
    assert list(tmp_path.iterdir()) == []


def test_errors_show_neither_url_nor_password(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = "postgresql://someone:hunter2secret@127.0.0.1:1/private_name?connect_timeout=1"
    failed = ask(url, "SELECT 1")
    assert failed.error_code == "database_unavailable"
    told = str(failed.as_dict()) + caplog.text
    assert "hunter2secret" not in told
    assert "private_name" not in str(failed.as_dict())
    wrong = ask(folder, "SELECT nope FROM people")
    assert wrong.error == "The database refused the statement: no such column: nope"


def test_a_database_that_the_config_does_not_have_is_named(folder: Path) -> None:
    failed = ask(folder, "SELECT 1", database="mian")
    assert failed.error == "Database 'mian' not found (known: main)"


@pytest.mark.requirement("I4.4.1")
def test_rows_of_any_size_take_bounded_memory(folder: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(1000000) AS b FROM n"
    )
    tracemalloc.start()
    try:
        result = ask(folder, endless, max_rows=10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.success
    assert peak < 150_000_000


@pytest.mark.requirement("I4.4.1")
@pytest.mark.parametrize(
    ("statement", "arguments", "told"),
    [
        ("SELECT zeroblob(999999999)", {}, "too big"),
        ("SELECT :id", {"id": 10**30}, "cannot hold an integer that large"),
        ("SELECT load_extension('x')", {}, "not authorized"),
    ],
)
def test_what_the_database_cannot_take_is_a_failure(
    folder: Path, statement: str, arguments: dict[str, Any], told: str
) -> None:
    assert told in ask(folder, statement, arguments).error


@pytest.mark.requirement("I4.4.1")
@pytest.mark.parametrize(
    "statement", ["ATTACH 'evil.db' AS evil", "PRAGMA journal_mode = OFF", "VACUUM INTO 'evil.db'"]
)
def test_no_statement_reaches_another_file_or_setting(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ask(folder, statement, read_only=False).error_code == "database_error"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("I4.4.1")
def test_a_colon_that_is_quoted_or_in_a_comment_is_no_parameter(folder: Path) -> None:
    statement = "SELECT 'at :time' AS \"a:b\", :id AS id -- not :this\n"
    assert ask(folder, statement, {"id": 1}).result["rows"] == [{"a:b": "at :time", "id": 1}]


FAULTS = [
    ("statement: SELECT 1; SELECT 2", "options.statement: is more than one statement"),
    ("statement: DELETE FROM t", "options.statement: starts with DELETE, so it is no query"),
    ("statement: /* SELECT */ drop table t", "options.statement: starts with DROP, so it is no query"),
    ("statement: ' -- '", "options.statement: is no statement"),
    ("statement: SELECT 1, max_row: 5", "unknown key 'max_row' (did you mean 'max_rows'?)"),
    ("statement: SELECT 1, max_rows: 0", "options.max_rows: must be an integer from 1 to 10000, not 0"),
    ("max_rows: 1", "options: 'statement' is missing"),
    (
        "statement: 'SELECT :idd, :id::int'",
        "options.statement: the tool has no parameter 'idd' for :idd (did you mean 'id'?)",
    ),
    (
        "statement: SELECT 1, database: mian",
        "options.database: unknown database 'mian' (did you mean 'main'?)",
    ),
]


@pytest.mark.requirement("I4.4.1")
@pytest.mark.parametrize(("options", "told"), FAULTS)
def test_options_that_cannot_work_are_faults_of_the_config(tmp_path: Path, options: str, told: str) -> None:
    path = tmp_path / "c.yaml"
    database = "" if "database:" in options else "database: main, "
    path.write_text(
        "services: {databases: {main: {url: 'sqlite:///data.db'}}}\n"
        "tools: {registry: [{name: q, description: d, implementation: {type: internal, handler: sql_query, "
        f"options: {{{database}{options}}}}}, "
        "parameters: {type: object, properties: {id: {type: integer}}}}]}"
    )
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    assert told in str(raised.value)
    assert len(raised.value.problems) == 1


@pytest.mark.parametrize(
    "statement",
    ["SELECT ';' AS a;", "SELECT 1 -- ; DROP\n", "SELECT $$;$$ AS a", "(SELECT 1)", "/* ; */ VALUES (1)"],
)
def test_a_semicolon_that_is_no_second_statement_is_taken(statement: str) -> None:
    Config.model_validate({"tools": {"registry": [sql(statement)]}})


@pytest.mark.parametrize(
    ("dialect", "statement", "safe"),
    [
        ("sqlite", "WITH a AS (SELECT 1) DELETE FROM b", True),
        ("mysql", "WITH a AS (SELECT 1) DELETE FROM b", False),
        ("mysql", "/* a */ (select 1)", True),
        ("mssql", "SELECT * into other FROM a", False),
        ("mysql", "SELECT 1 /*! INTO OUTFILE '/tmp/x' */", False),
        ("mysql", "SELECT 'into', `into` FROM a", True),
        ("mssql", "TABLE a", False),
    ],
)
def test_a_database_that_cannot_be_held_to_reading_takes_only_a_select(
    dialect: str, statement: str, safe: bool
) -> None:
    assert is_safe_on(dialect, statement) is safe


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("data.db", "is no database URL"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_a_url_that_cannot_work_is_a_fault_that_does_not_show_it(tmp_path: Path, url: str, told: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"services: {{databases: {{main: {{url: 'x{url}' }}}}}}".replace("xsqlite", "sqlite"))
    with pytest.raises(ConfigError, match=told) as raised:
        load_config(path)
    assert "c.yaml:1:" in str(raised.value)


def test_postgresql_values_are_json(postgres: str) -> None:
    first, second = rows(postgres, f"SELECT * FROM {PEOPLE} ORDER BY id")
    assert first.pop("at").startswith("2026-01-02T")
    assert first == {
        "id": 1,
        "name": "Ada",
        "born": "1815-12-10",
        "worth": 12.5,
        "key": "00000000-0000-0000-0000-000000000001",
        "tags": ["a", "b"],
        "data": {"x": [1]},
        "photo": "AP8=",
    }
    assert second["worth"] == "12345678901234567890.123"


def test_postgresql_binds_casts_and_lists(postgres: str) -> None:
    for value in HOSTILE:
        assert rows(postgres, "SELECT :v::text AS v", {"v": value}) == [{"v": value}]
    named = f"SELECT name FROM {PEOPLE} WHERE id IN :ids AND (CAST(:n AS int) IS NULL OR id < :n)"
    assert rows(postgres, named, {"ids": [1, 2]}) == [{"name": "Ada"}, {"name": "Bob"}]


@pytest.mark.parametrize(
    "statement",
    [
        "WITH d AS (DELETE FROM people RETURNING id) SELECT * FROM d",
        "SELECT set_config('transaction_read_only', 'off', false), lo_create(0)",
    ],
)
def test_postgresql_itself_refuses_to_write_unless_the_statement_may(postgres: str, statement: str) -> None:
    assert ask(postgres, statement.replace("people", PEOPLE)).error_code == "database_error"
    assert rows(postgres, f"SELECT count(*) AS n FROM {PEOPLE}") == [{"n": 2}]


def test_postgresql_commits_what_may_write(postgres: str) -> None:
    changed = f"UPDATE {PEOPLE} SET name = :name WHERE id = 2"
    assert ask(postgres, changed, {"name": "Bo"}, read_only=False).result == {"rows_affected": 1}
    assert rows(postgres, f"SELECT name FROM {PEOPLE} WHERE id = 2") == [{"name": "Bo"}]
    ask(postgres, changed, {"name": "Bob"}, read_only=False)


def test_postgresql_ends_the_statement_of_a_call_that_nobody_waits_for(postgres: str) -> None:
    slow = {**sql("SELECT pg_sleep(30)", timeout_ms=60_000), "name": "slow", "timeout_ms": 50}
    config = Config.model_validate(
        {
            "services": {"databases": {"main": {"url": postgres, "pool_size": 1}}},
            "tools": {"registry": [slow, sql("SELECT 1 AS one")]},
        }
    )

    async def called() -> list[ToolResult]:
        async with running(config) as runtime:
            return [await runtime.execute(name, {}, LOCAL) for name in ("slow", "q")]

    late, next_one = asyncio.run(asyncio.wait_for(called(), BOUND_S))
    assert late.error_code == "timeout"
    assert next_one.result["rows"] == [{"one": 1}]


def test_postgresql_ends_a_statement_with_its_time_and_reads_no_more_than_it_shows(postgres: str) -> None:
    late = ask(postgres, "SELECT pg_sleep(30)", timeout_ms=100)
    assert late.error_code == "timeout"
    many = ask(postgres, "SELECT generate_series(1, 500000000) AS i", max_rows=3)
    assert (many.result["row_count"], many.result["truncated"]) == (3, True)
