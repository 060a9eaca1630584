"""The bridge's own model, asked for servers: approved, with tools, within what the server wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolspan_bridge import (
    Approval,
    ApprovalRequest,
    ModelSampler,
    NameTable,
    Request,
    Sampled,
    Scripted,
    Unattended,
)
from toolspan_bridge.client.sampling_messages import read_sampling, written_sample
from toolspan_bridge.messages import ToolResults
from toolspan_server.engines.upstreams import ListedTool, RefusedQuestion

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.2.11")]

HELLO: dict[str, Any] = {"role": "user", "content": {"type": "text", "text": "Hello"}}
WEATHER = {
    "name": "get weather",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
USE = {"type": "tool_use", "id": "1", "name": "get weather", "input": {"city": "Paris"}}
CALL = {"role": "assistant", "content": [USE]}
RESULT = {"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "22"}]}


class Seeing(Scripted):
    """A scripted model; ``seen`` are its requests."""

    def __init__(self, *turns: Mapping[str, Any]) -> None:
        super().__init__([dict(turn) for turn in turns])
        self.seen: list[Request] = []

    async def answer(self, request: Request) -> Any:
        self.seen.append(request)
        return await super().answer(request)


def allowing(provider: Seeing) -> ModelSampler:
    return ModelSampler(provider, "m", Unattended(allowed=["sampling:srv"]))


async def sampled(sampler: ModelSampler, **params: Any) -> dict[str, Any]:
    """What the server ``srv`` gets."""
    sampling = read_sampling({"messages": [HELLO], "maxTokens": 50, **params}, "srv", "tool", 1_000)
    return written_sample(sampling, await sampler.sample(sampling))


async def test_the_servers_system_prompt_messages_and_limits_reach_the_model() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    look = {"role": "user", "content": [{"type": "text", "text": "Look"}, image]}
    provider = Seeing({"text": "A dot"})
    answer = await sampled(
        allowing(provider), messages=[look], systemPrompt="Be brief.", maxTokens=5_000, temperature=0.5
    )
    assert answer == {
        "role": "assistant",
        "content": {"type": "text", "text": "A dot"},
        "model": "m",
        "stopReason": "endTurn",
    }
    (request,) = provider.seen
    assert (request.system, request.max_tokens, request.temperature) == ("Be brief.", 1_000, 0.5)
    assert [part.type for part in request.messages[0].parts] == ["image"]  # type: ignore[union-attr]


async def test_the_models_calls_of_the_servers_tools_come_back_as_tool_use() -> None:
    provider = Seeing({"calls": [{"tool": "get weather", "arguments": {"city": "Paris"}, "id": "1"}]})
    answer = await sampled(allowing(provider), tools=[WEATHER], toolChoice={"mode": "required"})
    assert (answer["content"], answer["stopReason"]) == ([USE], "toolUse")
    assert provider.seen[0].tool_choice == "required"


async def test_tool_results_are_answered_in_turn() -> None:
    talk = [HELLO, CALL, {"role": "user", "content": [RESULT]}]
    provider = Seeing({"text": "22 degrees"})
    assert (await sampled(allowing(provider), tools=[WEATHER], messages=talk))["stopReason"] == "endTurn"
    _, call, results = provider.seen[0].messages
    wire = NameTable.of(provider.seen[0].tools).wire(provider.seen[0].tools[0])
    assert call.calls[0].name == wire != "get weather"  # type: ignore[union-attr]
    assert isinstance(results, ToolResults) and results.outcomes[0].result["result"] == "22"


@pytest.mark.parametrize(
    ("turn", "params", "text", "stop"),
    [
        ({"text": "cut", "stop": "length"}, {}, "cut", "maxTokens"),
        ({"text": "one END two"}, {"stopSequences": ["END"]}, "one ", "stopSequence"),
    ],
)
async def test_the_reason_of_the_end_is_told(
    turn: dict[str, Any], params: dict[str, Any], text: str, stop: str
) -> None:
    answer = await sampled(allowing(Seeing(turn)), **params)
    assert (answer["content"]["text"], answer["stopReason"]) == (text, stop)


@pytest.mark.parametrize(
    "params",
    [
        {"maxTokens": 0},
        {"maxTokens": "many"},
        {"messages": []},
        {"messages": [{"role": "system", "content": {"type": "text", "text": "x"}}]},
        {"messages": [HELLO, CALL]},
        {"messages": [HELLO, CALL, HELLO]},
        {"messages": [{"role": "user", "content": [RESULT]}]},
        {"messages": [HELLO, CALL, {"role": "user", "content": [RESULT, HELLO["content"]]}]},
        {"toolChoice": {"mode": "any"}},
        {"tools": [{"name": "no schema"}]},
        {"tools": [{**WEATHER, "name": str(number)} for number in range(65)]},
    ],
)
async def test_what_is_no_question_is_refused_unasked(params: dict[str, Any]) -> None:
    provider = Seeing({"text": "?"})
    with pytest.raises(RefusedQuestion) as refused:
        await sampled(allowing(provider), **params)
    assert (refused.value.code, provider.seen) == (-32602, [])


@pytest.mark.parametrize(
    "turn",
    [
        {"error": {"kind": "provider", "message": "overloaded", "status": 529}},
        {"text": "x", "incomplete": True},
    ],
)
async def test_a_model_that_fails_is_an_error_for_the_server(turn: dict[str, Any]) -> None:
    with pytest.raises(RefusedQuestion, match="model"):
        await sampled(allowing(Seeing(turn)))


async def test_without_an_approval_and_before_there_is_a_model_nothing_is_asked() -> None:
    provider = Seeing({"text": "?"})
    for sampler in (ModelSampler(provider, "m"), ModelSampler()):
        with pytest.raises(RefusedQuestion):
            await sampled(sampler)
    assert provider.seen == []


async def test_who_approves_sees_the_messages_and_may_change_them() -> None:
    class Editor:
        def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
            return "always"

        async def decide(self, request: ApprovalRequest) -> Approval:
            assert (request.server, request.tool.name) == ("srv", "sampling:srv")
            assert request.arguments["messages"] == [HELLO]
            other = {"role": "user", "content": {"type": "text", "text": "Goodbye"}}
            arguments = {**request.arguments, "messages": [other], "maxTokens": 99_999}
            return Approval(allowed=True, decider="person", arguments=arguments)

    provider = Seeing({"text": "Bye"})
    await sampled(ModelSampler(provider, "m", Editor()))
    (request,) = provider.seen
    assert request.messages[0].text == "Goodbye"  # type: ignore[union-attr]
    assert request.max_tokens == 50


async def test_what_was_sampled_is_told_with_its_tokens() -> None:
    usage = {"input_tokens": 7, "output_tokens": 3}
    sampling = read_sampling({"messages": [HELLO], "maxTokens": 5}, "srv", "tool", 10)
    got = await allowing(Seeing({"text": "x", "usage": usage})).sample(sampling)
    assert isinstance(got, Sampled)
    assert (got.usage.input_tokens, got.usage.output_tokens, got.provider) == (7, 3, "scripted")
