"""Lists in pages: every item once, whatever the size, and sensibly so when the list changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.served import INITIALIZE, MODERN_META
from tests.support.sources import config_of, mock
from tests.support.two_ways import answered_by_the_sdk, served
from toolspan_server import running
from toolspan_server.live.views import ServerView
from toolspan_server.protocol.messages.pagination import list_tools, page
from toolspan_server.protocol.messages.wire import ProtocolFault

pytestmark = pytest.mark.requirement("I4.3.1", "I4.4.1")
NAMES = st.lists(st.text(min_size=1, max_size=5), unique=True, max_size=30)


def items(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


def walked(found: list[dict[str, Any]], size: int) -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    while True:
        shown, cursor = page(found, cursor, size)
        assert len(shown) <= size
        names += [each["name"] for each in shown]
        if cursor is None:
            return names


@given(NAMES, st.integers(1, 40))
def test_the_pages_hold_every_item_once_in_order(names: list[str], size: int) -> None:
    assert walked(items(*names), size) == names


@given(NAMES.filter(lambda names: len(names) > 1), st.data())
def test_a_page_after_a_change_neither_repeats_nor_skips_what_stayed(
    names: list[str], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(names) - 1))
    shown, cursor = page(items(*names), None, size)
    given_out = [each["name"] for each in shown]
    kept = [name for name in names if name == given_out[-1] or data.draw(st.booleans())]
    added = [f"new {number}" for number in range(data.draw(st.integers(0, 3)))]
    rest, _ = page(items(*added, *kept), cursor, 100)
    assert [each["name"] for each in rest] == [name for name in kept if name not in given_out]


def test_where_the_last_item_is_gone_the_next_page_begins_where_it_was() -> None:
    _, cursor = page(items("a", "b", "c", "d"), None, 2)
    assert page(items("a", "c", "d"), cursor, 2) == (items("d"), None)
    assert page(items("a"), cursor, 2) == ([], None)
    assert page([], cursor, 2) == ([], None)


@given(st.one_of(st.none(), st.integers(), st.text(), st.binary().map(repr), st.just("A" * 24)))
def test_what_is_no_cursor_of_ours_is_refused(cursor: Any) -> None:
    if cursor is None:
        return
    with pytest.raises(ProtocolFault, match="Invalid cursor") as caught:
        page(items("a"), cursor, 1)
    assert caught.value.code == -32602


def test_a_cursor_that_was_changed_is_refused() -> None:
    _, cursor = page(items("a", "b"), None, 1)
    assert cursor is not None
    for place in range(len(cursor) - 2):
        other = "A" if cursor[place] != "A" else "B"
        with pytest.raises(ProtocolFault):
            page(items("a", "b"), cursor[:place] + other + cursor[place + 1 :], 1)


def _list(request_id: int, *, modern: bool, **params: Any) -> dict[str, Any]:
    meta = {"_meta": MODERN_META} if modern else {}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/list", "params": {**params, **meta}}


@pytest.mark.anyio
@pytest.mark.parametrize("modern", [True, False])
async def test_tools_come_in_pages_the_same_by_the_short_path_and_by_the_sdk(modern: bool) -> None:
    config = config_of(
        *map(mock, "abc"), limits={"page_size": 2}, serving={"cache": {"ttl_ms": 5, "scope": "public"}}
    )
    opening = [] if modern else [INITIALIZE]
    async with running(config) as runtime:
        view = ServerView(runtime)
        *_, first = await served(view, *opening, _list(1, modern=modern))
        *_, same = await answered_by_the_sdk(view, *opening, _list(1, modern=modern))
        assert first == same
        cursor = first["result"]["nextCursor"]
        *_, second = await served(view, *opening, _list(2, modern=modern, cursor=cursor))
        *_, refused = await served(view, *opening, _list(3, modern=modern, cursor="2"))
    assert [each["name"] for each in first["result"]["tools"]] == ["a", "b"]
    assert [each["name"] for each in second["result"]["tools"]] == ["c"]
    assert "nextCursor" not in second["result"]
    assert refused["error"]["code"] == -32602
    hints = {"ttlMs": 5, "cacheScope": "public", "resultType": "complete"} if modern else {}
    for result in (first["result"], second["result"]):
        assert {key: result[key] for key in ("ttlMs", "cacheScope", "resultType") if key in result} == hints


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2026-07-28"])
async def test_tools_are_listed_in_the_order_of_the_config(version: str) -> None:
    async with running(config_of(*map(mock, ("zebra", "ant", "moth")))) as runtime:
        listed = list_tools(ServerView(runtime), None, version)
    assert [tool["name"] for tool in listed.pop("tools")] == ["zebra", "ant", "moth"]
    hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    assert listed == (hints if version == "2026-07-28" else {})


@pytest.mark.anyio
async def test_another_config_is_listed_at_once(tmp_path: Path) -> None:
    async with running(config_of(mock("a"))) as runtime:
        view = ServerView(runtime)
        before = await served(view, _list(1, modern=True))
        await runtime.replace(config_of(mock("b")))
        after = await served(view, _list(1, modern=True))
    assert [[tool["name"] for tool in answer["result"]["tools"]] for [answer] in (before, after)] == [
        ["a"],
        ["b"],
    ]
