"""Requests of the modern era as proxies and load balancers see them: headers, and any worker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.raw_http import RawClient, request, tool_headers
from tests.support.served import MODERN_META, Served, http_server, tool

META = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
ALICE = {"who": {"action": "accept", "content": {"name": "Alice"}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two workers, and a tool that asks."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    asking = {
        "type": "mock",
        "steps": [{"ask": {"who": {"elicitation": {"message": "Who?", "requestedSchema": schema}}}}],
        "response": "Hello, {{ answers.who.content.name }}!",
    }
    path = tmp_path_factory.mktemp("routing") / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [tool("greet", asking)]}}))
    with http_server(path, "--workers", "2") as served:
        yield served


def called(server: Served, name: str = "greet", **params: Any) -> dict[str, Any]:
    """The answer to a call on a connection of its own; ``name`` is in the header as it is."""
    given = {"name": name.strip(), "arguments": {}, **params, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": given}).encode()
    with RawClient(server.address) as client:
        client.send(request("POST", "/mcp", *tool_headers(name), body=body))
        return client.answer().message  # type: ignore[no-any-return]


@pytest.mark.requirement("I4.1.1")
@pytest.mark.parametrize("name", ["greet  ", "  greet", " \tgreet\t "])
def test_space_around_a_header_is_none_of_its_value(server: Served, name: str) -> None:
    assert called(server, name)["result"]["resultType"] == "input_required"


@pytest.mark.requirement("I4.3.3")
def test_every_worker_takes_the_state_that_another_gave(server: Served) -> None:
    state = called(server)["result"]["requestState"]
    for _ in range(8):
        told = called(server, requestState=state, inputResponses=ALICE)
        assert told["result"]["content"][0]["text"] == "Hello, Alice!"
