"""No table of the app has a column that a value from outside cannot be written to."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Column, MetaData, Table, create_engine, insert, select

from toolspan_bridge.web.activity import tables as activity
from toolspan_bridge.web.keys import tables as keys
from toolspan_bridge.web.storage import keyed_requests
from toolspan_bridge.web.storage.stored_types import STORED_TYPES, StoredFloat, StoredInteger, StoredText

pytestmark = pytest.mark.requirement("I24.4.1")


@pytest.mark.parametrize("module", [activity, keys, keyed_requests], ids=lambda module: module.__name__)
def test_every_column_has_a_type_that_takes_what_comes(module: Any) -> None:
    found = [each for each in vars(module).values() if isinstance(each, MetaData)]
    columns = [column for metadata in found for table in metadata.tables.values() for column in table.columns]
    assert columns
    assert [str(column) for column in columns if not isinstance(column.type, STORED_TYPES)] == []


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        (StoredText, "a\ud800b", "a\\ud800b"),
        (StoredText, "é", "é"),
        (StoredInteger, 2**63, 2**63 - 1),
        (StoredInteger, -(10**400), -(2**63)),
        (StoredFloat, float("inf"), 0.0),
        (StoredFloat, 10**400, 0.0),
        (StoredFloat, 1.5, 1.5),
    ],
)
def test_a_value_that_sqlite_cannot_hold_is_made_into_one_that_it_can(
    kind: Any, given: Any, kept: Any
) -> None:
    table = Table("t", MetaData(), Column("value", kind))
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        table.metadata.create_all(connection)
        connection.execute(insert(table).values(value=given))
        assert connection.execute(select(table.c.value)).scalar_one() == kept
    engine.dispose()
