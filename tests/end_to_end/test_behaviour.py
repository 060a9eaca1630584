"""One behaviour over every transport and in both eras: content, progress, logs, questions, changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
)

from tests.support.served import BOUND_S, Served, command, http_server

pytestmark = [
    pytest.mark.long,
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

CONFIG = Path(__file__).with_name("everything.yaml")
WAYS = [("stdio", False), ("stdio", True), ("http", False), ("http", True), ("sse", False)]


@dataclass
class Heard:
    """What the server said to the client without being asked."""

    logs: list[Any] = field(default_factory=list[Any])
    changed: anyio.Event = field(default_factory=anyio.Event)

    async def log(self, params: Any) -> None:
        self.logs.append((params.level, params.data))

    async def message(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self.changed.set()


Open = Callable[[], AbstractAsyncContextManager[tuple[Client, Heard]]]


async def colour(_context: Any, _params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"colour": "green"})


async def verse(_context: Any, params: Any) -> CreateMessageResult:
    asked = params.messages[0].content.text
    return CreateMessageResult(
        role="assistant", content=TextContent(type="text", text=f"<{asked}>"), model="m"
    )


async def folders(_context: Any) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///home/ada")])


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with http_server(CONFIG) as served:
        yield served


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0]}-{'modern' if way[1] else '2025'}")
def modern(request: pytest.FixtureRequest) -> bool:
    return bool(request.param[1])


@pytest.fixture
def connect(request: pytest.FixtureRequest, server: Served, modern: bool) -> Open:
    transport = request.node.callspec.params["modern"][0]
    [program, *arguments] = command("--config", CONFIG)

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[Client, Heard]]:
        where: Any = {
            "stdio": StdioServerParameters(command=program, args=arguments),
            "http": f"{server.url}/mcp",
            "sse": sse_client(f"{server.url}/sse"),
        }[transport]
        heard = Heard()
        with anyio.fail_after(BOUND_S):
            client = Client(
                where,
                mode="auto" if modern else "legacy",
                read_timeout_seconds=BOUND_S,
                elicitation_callback=colour,
                sampling_callback=verse,
                list_roots_callback=folders,
                logging_callback=heard.log,
                log_level="info",
                message_handler=heard.message,
            )
            async with client:
                assert client.protocol_version == ("2026-07-28" if modern else "2025-11-25")
                yield client, heard

    return opened


@pytest.mark.requirement("I4.2.1", "I4.2.2", "I4.3.3", "I4.5.1")
async def test_a_tool_gives_all_content_reports_logs_and_asks(connect: Open) -> None:
    async with connect() as (client, heard):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["rich"].title == "Rich"
        assert listed["rich"].annotations is not None and listed["rich"].annotations.read_only_hint is True
        rich = await client.call_tool("rich", {})
        kinds = [block.type for block in rich.content]
        assert kinds == ["text", "image", "audio", "resource_link", "resource"]
        assert rich.structured_content == {"seen": 5}

        steps: list[Any] = []

        async def reported(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))

        counted = await client.call_tool("count", {}, progress_callback=reported)
        assert [block.text for block in counted.content if block.type == "text"] == ["counted"]
        assert steps == [(1, 2, "one"), (2, 2, "two")]
        assert heard.logs == [("info", "begin"), ("warning", {"end": True})]

        [said] = (await client.call_tool("interview", {})).content
        assert said.type == "text"
        assert said.text == "green / <A verse about green> / file:///home/ada"


@pytest.mark.requirement("I4.2.8", "I4.5.1")
async def test_prompts_resources_and_completions_are_there(connect: Open) -> None:
    async with connect() as (client, _):
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["greet"]
        [message] = (await client.get_prompt("greet", {"name": "Ada"})).messages
        assert isinstance(message.content, TextContent) and message.content.text == "Hello Ada"
        [resource] = (await client.list_resources()).resources
        [content] = (await client.read_resource(str(resource.uri))).contents
        assert content.text == "Welcome aboard."  # type: ignore[union-attr]  # a text it is
        [written] = (await client.read_resource("notes://by/Ada")).contents
        assert written.text == "A note by Ada."  # type: ignore[union-attr]  # a text it is
        completed = await client.complete(PromptReference(name="greet"), {"name": "name", "value": "a"})
        assert completed.completion.values == ["Ada", "Alan", "Grace"]


@pytest.mark.requirement("I4.3.5", "I4.5.1")
async def test_a_call_is_given_up_and_changes_are_told(connect: Open, modern: bool) -> None:
    async with connect() as (client, heard):
        begun = anyio.Event()

        async def reported(*_: Any) -> None:
            begun.set()

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.call_tool("wait", {}, progress_callback=reported))
            await begun.wait()
            group.cancel_scope.cancel()
        if modern:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("announce", {})
                assert "tools" in type(await anext(changes)).__name__.lower()
        else:
            await client.call_tool("announce", {})
            await heard.changed.wait()
