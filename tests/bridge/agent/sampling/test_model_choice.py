"""Which model answers a server that says what it would prefer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolspan_bridge import Approval, ApprovalRequest, ModelSampler, Provider, Scripted
from toolspan_bridge.agent.sampling import ModelChoice
from toolspan_bridge.client.sampling_messages import read_sampling
from toolspan_bridge.errors import UsageError
from toolspan_server.engines.upstreams import ListedTool, RefusedQuestion

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.2.82")]
ALLOWED = ModelChoice(
    {"haiku": "a/small", "claude": "a/large"}, {"speed": "b/quick", "intelligence": "a/large"}
)
HELLO = {"role": "user", "content": {"type": "text", "text": "Hello"}}


class Asked:
    """Allows everything; ``reasons`` are what the person was told."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        return f"{tool.name} of {server} with {len(arguments)} arguments"

    async def decide(self, request: ApprovalRequest) -> Approval:
        self.reasons.append(request.reason)
        return Approval(True, "person")


async def find(model: str) -> tuple[Provider, str]:
    if model == "b/quick":
        raise UsageError("b has no key")
    return Scripted([{"text": "by another"}]), model.partition("/")[2]


def sampling(*hints: str, **weights: Any) -> Any:
    preferences = {"hints": [{"name": hint} for hint in hints], **weights}
    params = {"messages": [HELLO], "maxTokens": 50, "modelPreferences": preferences}
    return read_sampling(params, "srv", "tool", 1_000)


@pytest.mark.parametrize(
    ("hints", "weights", "model"),
    [
        (("claude-3-5-HAIKU",), {}, "small"),
        (("gpt", "claude-sonnet"), {}, "large"),
        (("gpt",), {}, "m"),
        ((), {}, "m"),
        ((), {"costPriority": 1, "intelligencePriority": 0.5}, "m"),
        ((), {"costPriority": 0.1, "intelligencePriority": 0.5}, "large"),
        (("gpt",), {"intelligencePriority": True, "speedPriority": 7}, "m"),
        (("haiku",), {"intelligencePriority": 1}, "small"),
    ],
)
async def test_a_hint_or_the_greatest_weight_chooses_of_what_is_allowed_else_the_conversation_s_model(
    hints: tuple[str, ...], weights: dict[str, Any], model: str
) -> None:
    person = Asked()
    sampler = ModelSampler(Scripted([{"text": "by its own"}]), "m", person, choice=ALLOWED, find=find)
    sampled = await sampler.sample(sampling(*hints, **weights))
    assert sampled.model == model
    assert sampled.reply.message.text == ("by its own" if model == "m" else "by another")
    (told,) = person.reasons
    assert (f"{model} answers, the model of the conversation" in told) is (model == "m" and bool(hints))
    assert f"{model} answers" in told


async def test_a_chosen_model_that_cannot_be_asked_refuses_the_sample_and_says_which() -> None:
    own = Scripted([{"text": "by its own"}])
    sampler = ModelSampler(own, "m", Asked(), choice=ALLOWED, find=find)
    with pytest.raises(RefusedQuestion, match="the model b/quick could not be asked: b has no key"):
        await sampler.sample(sampling(speedPriority=0.9))


async def test_without_a_choice_the_conversation_s_model_answers_whatever_is_hinted_at() -> None:
    person = Asked()
    sampler = ModelSampler(Scripted([{"text": "by its own"}]), "m", person)
    assert (await sampler.sample(sampling("haiku"))).model == "m"
    assert "it would like 'haiku' (client.sampling_models)" in person.reasons[0]
