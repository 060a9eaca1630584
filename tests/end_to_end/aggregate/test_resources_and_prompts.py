"""The resources, templates and prompts of all MCP servers of a config behind one endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from anyio import Semaphore
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from tests.support.aggregates import ERAS, Person, aggregate, connected, own
from tests.support.served import http_server

pytestmark = [pytest.mark.long, pytest.mark.anyio]

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
ASKED = {"ask": {"trip": {"elicitation": {"message": "How many days?", "requestedSchema": DAYS}}}}
LIBRARY: dict[str, Any] = {
    "resources": [
        {"uri": "library://hours", "name": "hours", "text": "nine to five"},
        {"uri": "library://plan", "name": "plan", "file": "plan.txt"},
    ],
    "resource_templates": [
        {
            "uri_template": "library://shelves/{id}",
            "name": "shelves",
            "variables": {"id": {"values": ["north", "south"]}},
            "text": "shelves of {{ id }}",
        }
    ],
    "prompts": [
        {
            "name": "greet",
            "arguments": [{"name": "who", "required": True, "values": ["Ann", "Bob"]}],
            "messages": [{"text": "Hello {{ who }}"}],
        },
        {
            "name": "trip",
            "steps": [ASKED],
            "messages": [{"text": "Plan {{ answers.trip.content.days }} days"}],
        },
    ],
}


def hub(folder: Path, settings: Any = True, **more: Any) -> Path:
    """A config that aggregates a library, and a shop with a resource of the same URI."""
    (folder / "plan.txt").write_text("old plan")
    shop = {
        "resources": [
            {"uri": "library://hours", "name": "hours", "text": "never"},
            {"uri": "shop://stock", "name": "stock", "text": "three books"},
        ]
    }
    servers = {"library": own(folder, "library", **LIBRARY), "shop": own(folder, "shop", **shop)}
    return aggregate(folder, servers, settings, **more)


@pytest.mark.requirement("I15.4.15")
@pytest.mark.parametrize("mode", ERAS)
async def test_resources_of_all_servers_are_listed_and_read_by_their_own_uris(
    tmp_path: Path, mode: str
) -> None:
    config = hub(tmp_path, resources=[{"uri": "hub://own", "name": "own", "text": "ours"}])
    with http_server(config) as served:
        async with connected(f"{served.url}/mcp", mode=mode) as client:
            listed = [each.uri for each in (await client.list_resources()).resources]
            assert listed == ["hub://own", "library://hours", "library://plan", "shop://stock"]
            read = {uri: (await client.read_resource(uri)).contents[0] for uri in listed}
            texts = {uri: getattr(content, "text", None) for uri, content in read.items()}
            assert texts == {
                "hub://own": "ours",
                "library://hours": "nine to five",
                "library://plan": "old plan",
                "shop://stock": "three books",
            }
            with pytest.raises(MCPError, match="not found"):
                await client.read_resource("library://nothing")
        served.errors.first(lambda line: "'library://hours' of upstream 'shop' is left out" in line)


@pytest.mark.requirement("I15.4.16")
@pytest.mark.parametrize("mode", ERAS)
async def test_templates_and_their_completions_pass_through(tmp_path: Path, mode: str) -> None:
    async with connected(hub(tmp_path), mode=mode) as client:
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "library://shelves/{id}"
        found: Any = (await client.read_resource("library://shelves/north")).contents[0]
        assert found.text == "shelves of north"
        ref = ResourceTemplateReference(type="ref/resource", uri=template.uri_template)
        offered = await client.complete(ref, {"name": "id", "value": "s"})
        assert offered.completion.values[0] == "south"


@pytest.mark.requirement("I15.4.17")
@pytest.mark.parametrize("mode", ERAS)
async def test_prompts_have_prefixed_names_and_ask_the_client_that_picks_them(
    tmp_path: Path, mode: str
) -> None:
    own_prompts = [{"name": "own", "messages": [{"text": "ours"}]}]
    person = Person("accept", content={"days": 3})
    async with connected(
        hub(tmp_path, prompts=own_prompts), mode=mode, elicitation_callback=person
    ) as client:
        listed = (await client.list_prompts()).prompts
        assert [each.name for each in listed] == ["own", "library_greet", "library_trip"]
        greeting: Any = (await client.get_prompt("library_greet", {"who": "Ann"})).messages[0].content
        assert greeting.text == "Hello Ann"
        ref = PromptReference(type="ref/prompt", name="library_greet")
        assert (await client.complete(ref, {"name": "who", "value": "B"})).completion.values == ["Bob"]
        trip: Any = (await client.get_prompt("library_trip")).messages[0].content
        assert trip.text == "Plan 3 days" and person.asked == ["How many days?"]
        with pytest.raises(MCPError, match="needs the arguments: 'who'"):
            await client.get_prompt("library_greet")
        with pytest.raises(MCPError, match="not found"):
            await client.get_prompt("greet")


@pytest.mark.requirement("I15.4.18")
async def test_which_prompts_are_served_and_under_which_names_is_set_for_each_server(tmp_path: Path) -> None:
    settings = {"servers": {"library": {"prefix": "", "exclude": ["trip"]}}}
    async with connected(hub(tmp_path, settings)) as client:
        assert [each.name for each in (await client.list_prompts()).prompts] == ["greet"]


@pytest.mark.requirement("I15.4.19")
@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")  # of the SDK, about the era before
async def test_a_client_that_follows_a_resource_hears_of_its_changes_at_the_server(tmp_path: Path) -> None:
    news = Semaphore(0)

    async def told(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            assert message.params.uri == "library://plan"
            news.release()

    async with connected(hub(tmp_path), mode="legacy", message_handler=told) as client:
        await client.list_resources()
        await client.subscribe_resource("library://plan")
        (tmp_path / "plan.txt").write_text("another, longer plan")
        await news.acquire()
        changed: Any = (await client.read_resource("library://plan")).contents[0]
        assert changed.text == "another, longer plan"


@pytest.mark.requirement("I15.4.19")
async def test_so_does_one_that_listens_in_the_newest_era(tmp_path: Path) -> None:
    async with connected(hub(tmp_path)) as client:
        await client.list_resources()
        async with client.listen(resource_subscriptions=["library://plan"]) as subscription:
            (tmp_path / "plan.txt").write_text("another, longer plan")
            async for event in subscription:
                assert getattr(event, "uri", "") == "library://plan"
                break


@pytest.mark.requirement("I15.4.20")
async def test_a_list_that_changes_at_a_server_arrives_at_clients(tmp_path: Path) -> None:
    config = hub(tmp_path)
    library = tmp_path / "library.json"
    news = Semaphore(0)

    async def told(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/prompts/list_changed":
            news.release()

    async with connected(config, mode="legacy", message_handler=told) as client:
        assert len((await client.list_prompts()).prompts) == 2
        library.write_text(library.read_text().replace('"trip"', '"journey"', 1))
        while "library_journey" not in [each.name for each in (await client.list_prompts()).prompts]:
            await news.acquire()
