"""Responses: tools beyond what is sent at once are found by the provider's search, and called."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, checks
from tests.support.mcp_peers import raw
from tests.support.outcomes import succeeded
from tests.support.provider_rules.openai_responses import check_request, check_state
from tests.support.provider_settings import instant
from tests.support.wires.openai_responses import REASONING, answer, message, stream, whole
from toolspan_bridge.formats import defers_tools, openai_responses
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.loop import Question
from toolspan_bridge.loop import answer as ask
from toolspan_bridge.messages import Message, Request, ToolResults, ToolSpec, User
from toolspan_bridge.providers.compatible.connect import connect_to
from toolspan_bridge.providers.settings.endpoint import Endpoint
from toolspan_bridge.toolbox import Toolbox

pytestmark = pytest.mark.requirement("I11.3.3")

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
KEY = "sk-test-0123456789"


def specs(count: int, server: str = "shop", late: int = 0) -> list[ToolSpec]:
    return [ToolSpec(server, f"t{place:04}", "d", EMPTY, late=late) for place in range(count)]


def sent(*tools: ToolSpec, model: str = "gpt-5.5", **options: Any) -> list[dict[str, Any]]:
    request = Request(model, (User("hi"),), tools=tools, **options)
    body = openai_responses.render_request(request, NameTable.of(tools))
    check_request(body)
    found: list[dict[str, Any]] = body["tools"]
    return found


def test_tools_beyond_the_limit_are_put_into_namespaces_that_are_searched_and_none_is_dropped() -> None:
    tools = [*specs(150), *specs(20, "docs")]
    *spaces, search = sent(*tools)
    assert search == {"type": "tool_search"}
    assert [(space["name"], len(space["tools"])) for space in spaces] == [
        ("docs", 20),
        ("shop", 100),
        ("shop_2", 50),
    ]
    assert spaces[0]["description"].startswith("Tools of the server docs: docs__t0000, docs__t0001")
    assert all(len(space["description"]) <= 1_000 for space in spaces)


@pytest.mark.parametrize(
    ("count", "limit", "deferred"), [(128, None, 0), (129, None, 129), (9, 8, 9), (8, 8, 0), (200, 999, 200)]
)
def test_the_limit_is_the_providers_or_the_one_that_is_asked_for(
    count: int, limit: int | None, deferred: int
) -> None:
    tools = sent(*specs(count), defer_tools=limit)
    assert sum(len(tool.get("tools", [])) for tool in tools) == deferred


@pytest.mark.parametrize("model", ["gpt-5.2", "gpt-4.1", "gpt-5.4-chat-latest", "my-deployment"])
def test_a_model_without_the_search_is_sent_as_many_as_it_takes(model: str) -> None:
    assert not defers_tools("openai-responses", model)
    assert [tool["type"] for tool in sent(*specs(150), model=model)] == ["function"] * 128


def test_a_tool_that_must_be_called_is_not_deferred() -> None:
    tools = specs(150)
    request = Request("gpt-5.5", (User("hi"),), tools=tuple(tools), tool_choice=tools[7].key)
    body = openai_responses.render_request(request, NameTable.of(tools))
    check_request(body)
    assert body["tools"][0]["name"] == body["tool_choice"]["name"] == "shop__t0007"
    assert sum(len(tool.get("tools", [])) for tool in body["tools"]) == 149


def test_tools_that_come_later_stand_after_all_others() -> None:
    before = sent(*specs(130))
    after = sent(*specs(130), *specs(3, "aaa", late=1), *specs(2, "shop2", late=1))
    assert after[: len(before) - 1] == before[:-1]
    assert [space["name"] for space in after[len(before) - 1 : -1]] == ["aaa", "shop2"]


SEARCHED: list[dict[str, Any]] = [
    REASONING,
    {
        "type": "tool_search_call",
        "id": "ts_1",
        "status": "completed",
        "execution": "server",
        "arguments": {"paths": ["raw"]},
        "call_id": None,
    },
    {
        "type": "tool_search_output",
        "id": "to_1",
        "status": "completed",
        "execution": "server",
        "tools": [{"type": "namespace", "name": "raw", "description": "d", "tools": []}],
    },
    {**answer("", [("c1", "raw__echo", {"n": 1})])["output"][0], "namespace": "raw"},
]


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_tool_that_the_search_found_is_called_and_the_search_goes_back_with_it(
    streamed: bool,
) -> None:
    turns = [whole(SEARCHED), whole([message("Done.") | {"id": "msg_9"}])]
    replies = [Sent(frames=stream(turn)) if streamed else Sent(turn) for turn in turns]
    with FakeProvider(checks.responses(KEY), replies) as fake:
        place = Endpoint("openai", f"{fake.url}/v1", KEY, "OPENAI_API_KEY", "")
        provider = connect_to(place, "openai-responses", instant())
        asked = Question("?", "gpt-5.5", stream=streamed, tools_offered=1)
        async with aclosing(provider), Toolbox.connect([raw()]) as box:
            given = await ask(asked, provider, box)
    assert [(use.tool, use.result["success"]) for use in given.tool_calls] == [("echo", True)]
    first, second = (request.body for request in fake.received)
    assert second["tools"] == first["tools"] and first["tools"][-1] == {"type": "tool_search"}
    assert second["input"][1:4] == [{k: v for k, v in item.items() if v is not None} for item in SEARCHED[:3]]
    check_state(second["input"], [whole(SEARCHED)])


def test_a_name_that_holds_its_namespace_is_the_tools_own() -> None:
    (call,) = answer("", [("c1", "shop.shop__find", {})])["output"]
    reply = openai_responses.parse_reply(whole([{**call, "namespace": "shop"}]))
    assert [each.name for each in reply.message.calls] == ["shop__find"]
    messages: tuple[Message, ...] = (User("hi"), reply.message, ToolResults((succeeded(call_id="c1"),)))
    body = openai_responses.render_request(Request("gpt-5.5", messages), NameTable.of(()))
    check_request(body)
