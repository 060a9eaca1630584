"""Lists in statements: each call's values are bound by what the statement asks, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.executors import tool
from tests.support.postgres import POSTGRES, schema
from tests.support.waiting import BOUND_S
from toolspan_server import Config, ConfigError, load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.results import ToolResult

pytestmark = pytest.mark.requirement("I9.1.4")

PEOPLE = (
    "CREATE TABLE {} (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO {} VALUES (1,'A'), (2,'B'), (3,'C')",
)


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    path = tmp_path_factory.mktemp("lists") / "data.db"
    with sqlite3.connect(path) as connection:
        for statement in PEOPLE:
            connection.execute(statement.format("people"))
    return f"sqlite:///{path}", "people"


@pytest.fixture(scope="module")
def postgres() -> Iterator[tuple[str, str]]:
    with schema("toolspan_lists", *(statement.format("{}.people") for statement in PEOPLE)) as own:
        yield POSTGRES, f"{own}.people"


@pytest.fixture(params=["sqlite", "postgres"])
def people(request: pytest.FixtureRequest) -> tuple[str, str]:
    given: tuple[str, str] = request.getfixturevalue(request.param)
    return given


def answers(people: tuple[str, str], where: str, *calls: dict[str, Any]) -> list[ToolResult]:
    """The results of the calls, in turn, on one server."""
    url, table = people
    options = {"database": "main", "statement": f"SELECT id FROM {table} WHERE {where} ORDER BY id"}
    entry = tool("q", {"type": "internal", "handler": "sql_query", "options": options})
    config = Config.model_validate(
        {"services": {"databases": {"main": {"url": url}}}, "tools": {"registry": [entry]}}
    )

    async def called() -> list[ToolResult]:
        async with running(config) as runtime:
            return [await runtime.execute("q", arguments, LOCAL) for arguments in calls]

    return asyncio.run(asyncio.wait_for(called(), BOUND_S))


def told(result: ToolResult) -> Any:
    """The ids that were found, or the error's code."""
    return [row["id"] for row in result.result["rows"]] if result.success else result.error_code


IDS: list[tuple[dict[str, Any], Any]] = [
    ({}, []),
    ({"ids": [1, 3]}, [1, 3]),
    ({"ids": "13"}, "invalid_parameters"),
    ({"ids": 1}, "invalid_parameters"),
    ({"ids": {"1": 1}}, "invalid_parameters"),
    ({"ids": None}, []),
    ({"ids": []}, []),
    ({"ids": [2, None]}, [2]),
    ({"ids": [1, "3"]}, [1, 3]),
    ({"ids": [1, [2, 3]]}, "invalid_parameters"),
]


@pytest.mark.parametrize("first", range(len(IDS)))
def test_a_call_finds_the_same_whatever_was_called_before(people: tuple[str, str], first: int) -> None:
    in_turn = [*IDS[first:], *IDS[:first]]
    found = answers(people, "id IN :ids", *(arguments for arguments, _ in in_turn))
    assert [told(result) for result in found] == [expected for _, expected in in_turn]


def test_what_is_no_list_is_refused_and_told_where_a_list_is_due(people: tuple[str, str]) -> None:
    (refused,) = answers(people, "id IN :ids", {"ids": "13"})
    assert refused.error == ("Invalid parameters: 'ids' must be an array, for the statement asks IN :ids")


def test_a_list_is_refused_where_one_value_is_due(people: tuple[str, str]) -> None:
    for where, calls in itertools.product(
        ["id = :id", "id IN (:id)"], [[{"id": [1, 2]}, {"id": 1}], [{"id": 1}, {"id": [1]}, {"id": 1}]]
    ):
        found = answers(people, where, *calls)
        assert [told(one) for one in found] == [
            "invalid_parameters" if isinstance(call["id"], list) else [1] for call in calls
        ]
        refused = next(one for one in found if not one.success)
        assert "'id' must be a single value: a list stands only after IN" in (refused.error or "")


def test_an_empty_list_finds_nothing_and_without_it_everything_whatever_the_column(
    people: tuple[str, str],
) -> None:
    for column in ("id", "name"):
        found = answers(people, f"{column} IN :of", {"of": []}, {"of": None})
        assert [told(one) for one in found] == [[], []]
        assert [told(one) for one in answers(people, f"{column} NOT IN :of", {"of": []})] == [[1, 2, 3]]
    assert [told(one) for one in answers(people, "NOT id IN /* :no */ :of", {"of": []})] == [[1, 2, 3]]


def test_a_list_may_be_optional(people: tuple[str, str]) -> None:
    where = "CAST(:ids AS TEXT) IS NULL OR id IN :ids"
    found = answers(people, where, {}, {"ids": [2]}, {"ids": []}, {}, {"ids": "2"})
    assert [told(one) for one in found] == [[1, 2, 3], [2], [], [1, 2, 3], "invalid_parameters"]


def test_lists_of_lists_are_rows_of_one_width(people: tuple[str, str]) -> None:
    pairs: list[Any] = [
        [[1, "A"], [2, "C"]],
        [[1, "A"], [2]],
        [[1], [2, "B"]],
        [[]],
        [[[1], "A"]],
        [[1, "A"], "2B"],
        [[3, "C"]],
    ]
    found = answers(people, "(id, name) IN :pairs", *({"pairs": each} for each in pairs))
    assert [told(one) for one in found] == [[1], *["invalid_parameters"] * 5, [3]]


def test_a_long_list_is_asked_for_whole(people: tuple[str, str]) -> None:
    (found,) = answers(people, "id IN :ids", {"ids": list(range(3, 9_990))})
    assert told(found) == [3]


def test_lists_past_the_limit_are_refused_by_its_name() -> None:
    from toolspan_server.engines.databases._binding import MOST_LISTED, bound
    from toolspan_server.errors import InvalidParameters

    with pytest.raises(InvalidParameters, match=f"more than the {MOST_LISTED} values"):
        bound("SELECT 1 WHERE 1 IN :a OR 2 IN :b", {"a": [1] * MOST_LISTED, "b": [2]}, "sqlite")


def test_two_lists_names_that_are_taken_and_other_values_keep_apart(people: tuple[str, str]) -> None:
    where = "id IN :ids AND name IN :ids_values AND id < :ids_values_ AND 'in :x' <> :x"
    call = {"ids": [1, 2, 3], "ids_values": ["B", "C"], "ids_values_": 3, "x": "y"}
    assert [told(one) for one in answers(people, where, call)] == [[2]]


def test_in_of_a_function_asks_for_one_value(postgres: tuple[str, str]) -> None:
    found = answers(postgres, "POSITION(name IN :text) > 0", {"text": "AC"}, {"text": ["A"]})
    assert [told(one) for one in found] == [[1, 3], "invalid_parameters"]


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("SELECT 1 WHERE 1 IN :id", "IN :id takes a list, but the parameter is no array"),
        ("SELECT :ids", "a list stands only after IN, as in IN :ids, but the parameter is an array"),
    ],
)
def test_parameters_of_another_type_than_the_statement_takes_are_faults_of_the_config(
    tmp_path: Path, statement: str, fault: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "services: {databases: {main: {url: 'sqlite:///data.db'}}}\n"
        "tools: {registry: [{name: q, description: d, implementation: {type: internal, handler: sql_query, "
        f"options: {{database: main, statement: '{statement}'}}}}, "
        "parameters: {type: object, properties: {id: {type: integer}, ids: {type: array}}}}]}"
    )
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    (problem,) = raised.value.problems
    assert fault in str(problem)
