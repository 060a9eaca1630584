"""The store that a config chooses: its database, its quotas, and what a reload leaves of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.executors import builtin
from toolspan_server import ConfigError, load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.live.runtime import Runtime

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.4.15")]


def written(folder: Path, **more: Any) -> Path:
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [builtin("calculator")]}, **more}))
    return path


async def calculate(runtime: Runtime, expression: str = "1 + 1") -> str:
    """The error code of a calculation; "" when there is none."""
    return (await runtime.execute("calculator", {"expression": expression}, LOCAL)).error_code


def expressions(stored: str) -> list[str]:
    return [entry["expression"] for entry in json.loads(stored)["history"]]


def in_database(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        [(stored,)] = connection.execute("SELECT document FROM toolspan_storage").fetchall()
    finally:
        connection.close()
    return expressions(stored)


async def test_without_a_word_it_is_in_the_state_folder_across_restarts(tmp_path: Path) -> None:
    path = written(tmp_path, state_dir="state")
    for expression in ("1 + 1", "2 + 2"):
        async with running(load_config(path)) as runtime:
            assert await calculate(runtime, expression) == ""
    stored = tmp_path / "state" / "storage" / "local" / "default" / "calculator.json"
    assert expressions(stored.read_text()) == ["1 + 1", "2 + 2"]


async def test_a_url_keeps_it_in_a_database_beside_the_config(tmp_path: Path) -> None:
    path = written(tmp_path, storage={"url": "sqlite:///kept/tools.db"})
    for expression in ("1 + 1", "2 + 2"):
        async with running(load_config(path)) as runtime:
            assert await calculate(runtime, expression) == ""
    assert in_database(tmp_path / "kept" / "tools.db") == ["1 + 1", "2 + 2"]
    assert not (tmp_path / ".toolspan").exists()


async def test_a_reload_keeps_what_is_stored_and_may_change_where(tmp_path: Path) -> None:
    path = written(tmp_path)
    async with running(load_config(path)) as runtime:
        await calculate(runtime, "1")
        await runtime.replace(load_config(written(tmp_path, instructions="Another.")))
        await calculate(runtime, "2")
        await runtime.replace(load_config(written(tmp_path, storage={"url": "sqlite:///tools.db"})))
        await calculate(runtime, "3")
    stored = tmp_path / ".toolspan" / "storage" / "local" / "default" / "calculator.json"
    assert expressions(stored.read_text()) == ["1", "2"]
    assert in_database(tmp_path / "tools.db") == ["3"]


async def test_its_quotas_are_the_configs(tmp_path: Path) -> None:
    path = written(tmp_path, storage={"document_bytes": 200})
    async with running(load_config(path)) as runtime:
        codes = [await calculate(runtime, f"{number} + 1") for number in range(5)]
    assert codes == ["", "", "storage_quota", "storage_quota", "storage_quota"]
    path = written(tmp_path, storage={"user_bytes": 100}, state_dir="another")
    async with running(load_config(path)) as runtime:
        result = await runtime.execute("calculator", {"expression": "1"}, LOCAL)
    assert (result.error_code, "storage.user_bytes" in result.error) == ("storage_quota", True)


@pytest.mark.requirement("I12.4.12")
@pytest.mark.parametrize(
    "url",
    ["sqlite:////dev/null/x.db", "postgresql://me:a-secret-word@127.0.0.1:9/none"],
    ids=["file", "host"],
)
async def test_a_store_that_is_away_is_an_error_of_the_call_that_shows_no_password(
    tmp_path: Path, url: str
) -> None:
    async with running(load_config(written(tmp_path, storage={"url": url}))) as runtime:
        result = await runtime.execute("calculator", {"expression": "1"}, LOCAL)
    assert (result.success, result.error_code) == (False, "storage_error")
    assert result.error.startswith(
        "The storage of the tool cannot be read; what was stored before is unchanged"
    )
    assert "a-secret-word" not in result.error


async def test_a_damaged_database_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    database = tmp_path / "tools.db"
    database.write_bytes(b"no database at all" * 100)
    before = database.read_bytes()
    async with running(load_config(written(tmp_path, storage={"url": "sqlite:///tools.db"}))) as runtime:
        assert await calculate(runtime) == "storage_error"
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        ({"url": "tools.db"}, "is no database URL"),
        ({"url": "sqlite://"}, "names no file"),
        ({"document_bytes": 0}, "1"),
        ({"quota": 7}, "quota"),
    ],
)
async def test_what_is_wrong_with_it_is_an_error_of_the_config(
    tmp_path: Path, storage: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        load_config(written(tmp_path, storage=storage))
