"""What a tool's name and hints prove after foreign content was read: only that, and of whom, they can."""

from __future__ import annotations

from typing import Any

import pytest

from toolspan_bridge.messages import Mark
from toolspan_bridge.provenance.outward import Conversed, MadeCall
from toolspan_server.engines.upstreams import ListedTool

pytestmark = pytest.mark.requirement("I24.2.4")

READING = [
    "get_inbox", "list_issues", "searchUsers", "read_file", "find-page", "describe_table", "look_up_user",
    "mail_get_inbox", "mail.listFolders", "get_users_in_channel", "check_opening_hours", "echo",
]  # fmt: skip
CHANGING = [
    "execute_query", "post_status", "run_search", "slack_list", "get_and_delete", "find_or_create",
    "fetchThenPay", "read_write_file", "search_replace", "check_out", "list_on_market", "getAndSend",
    "query", "batch_get", "list_delete", "delete", "x", "", "löschen", "get_lösche", "listanddelete",
    "mail_post_get", "create_list", "GET_AND_REMOVE", "show_off_update",
]  # fmt: skip


def asks(name: str, *, trusted: bool = False, reach: str = "", **hints: Any) -> bool:
    """Whether a call of the tool ``name`` of the server ``mail`` is asked about after foreign content."""
    details: dict[str, Any] = {"annotations": hints}
    if reach:
        details["_meta"] = {"dev.toolspan/reach": reach}
    tool = ListedTool(name, "A tool.", {"type": "object"}, details)
    conversed = Conversed([Mark("foreign", "a page", "eve.example")])
    return conversed.outward(MadeCall("mail", tool, {}, trusted)) is not None


@pytest.mark.parametrize("name", READING)
def test_a_tool_whose_name_begins_with_a_verb_of_reading_is_not_asked_about(name: str) -> None:
    assert not asks(name)


@pytest.mark.parametrize("name", CHANGING)
def test_a_tool_whose_name_does_not_or_says_of_something_else_too_is(name: str) -> None:
    assert asks(name)


def test_a_servers_hint_is_believed_of_itself_unless_the_name_says_otherwise() -> None:
    assert not asks("run_report", readOnlyHint=True)
    assert asks("execute_query", readOnlyHint=True)
    assert not asks("get_commit", readOnlyHint=True)
    assert asks("get_inbox", readOnlyHint=False)
    assert asks("get_inbox", destructiveHint=True)
    assert asks("delete_mail", readOnlyHint=True)
    assert asks("get_and_send", readOnlyHint=True)


def test_the_hints_of_a_tool_of_the_config_are_the_users_own_word() -> None:
    assert not asks("delete_mail", trusted=True, readOnlyHint=True)
    assert asks("get_inbox", trusted=True, readOnlyHint=False)


def test_code_of_the_config_is_asked_about_unless_it_declares_that_it_only_reads_or_stays_here() -> None:
    assert asks("get_weather", trusted=True, reach="code")
    assert asks("get_weather", trusted=True, reach="code", destructiveHint=False)
    assert not asks("notify", trusted=True, reach="code", readOnlyHint=True)
    assert not asks("notify", trusted=True, reach="code", openWorldHint=False)
    assert asks("notify", trusted=True, reach="later kind")
