"""Text that a stream gave and that is no part of the answer: thoughts, and turns that are asked for again."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.support.fake_providers import FakeProvider, anything
from tests.support.gateway import gateway
from tests.support.wire_peers import Peer, streamed

PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")
DONE = b"data: [DONE]\n\n"
RETRACTED = ": retracted: the last text before this is no part of the answer"


def chunk(content: str = "", finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode() + b"\n\n"


def said(*pieces: str, finish: str = "stop") -> Sequence[bytes]:
    return [*map(chunk, pieces), chunk(finish=finish), DONE]


@contextmanager
def answering(*answers: Sequence[bytes]) -> Generator[Any]:
    """A gateway whose provider gives ``answers``, one after another."""
    sent = [streamed("openai", *answer) for answer in answers]
    with FakeProvider(anything, sent) as fake, gateway(Peer("openai", fake.url)) as served:
        yield served


def ask(served: Any, path: str, model: str = "x", *, in_pieces: bool = True, **more: Any) -> httpx.Response:
    body = {"model": f"m/{model}", "stream": in_pieces, **more}
    body |= {"input": "Hello"} if path.endswith("responses") else {}
    body |= {} if "input" in body else {"messages": [{"role": "user", "content": "Hello"}]}
    body |= {"max_tokens": 50} if path.endswith("messages") else {}
    return httpx.post(f"{served.url}{path}", json=body, timeout=30)


def texts(answer: httpx.Response) -> list[str]:
    """The texts that the streamed ``answer`` gave, each up to the next mark, item or block."""
    found = [""]
    for line in answer.text.splitlines():
        if line == RETRACTED or "output_item.added" in line or "content_block_start" in line:
            found.append("")
        if not line.startswith("data: {"):
            continue
        event: dict[str, Any] = json.loads(line.removeprefix("data: "))
        delta: Any = event.get("delta") or {}
        if event.get("type") == "response.output_text.delta":
            found[-1] += delta
        elif event.get("type") == "content_block_delta":
            found[-1] += delta.get("text") or ""
        for choice in event.get("choices", []):
            found[-1] += choice["delta"].get("content") or ""
    return [text.strip() for text in found if text.strip()]


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize("path", PATHS)
def test_thoughts_that_came_as_text_are_marked_and_the_next_answers_are_held(path: str) -> None:
    unopened = said("Hm, which", " one?\n</think>\n\n", "Oslo.")
    with answering(unopened, unopened, said("Just", " so."), said("It ", "streams.")) as served:
        first, second, third = (ask(served, path) for _ in range(3))
        assert RETRACTED in first.text and texts(first) == ["Hm, which one?", "Oslo."]
        assert RETRACTED not in second.text and texts(second) == ["Oslo."]
        assert RETRACTED not in third.text and texts(third) == ["Just so."]


@pytest.mark.requirement("I25.1.3")
@pytest.mark.parametrize("path", PATHS)
def test_models_that_always_think_unopened_are_held_from_the_first(path: str) -> None:
    with answering(said("Hm.", "\n</think>\n\n", "Oslo.")) as served:
        assert texts(ask(served, path, "DeepSeek-R1-Distill-Qwen-7B")) == ["Oslo."]


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("again", "marked", "shown"),
    [
        (("I look", " it up: Oslo."), False, ["I look it up: Oslo."]),
        (("I look it", " up."), False, ["I look it up."]),
        (("I look", " elsewhere."), True, ["I look it up.", "I look elsewhere."]),
        (("Oslo.",), True, ["I look it up.", "Oslo."]),
    ],
)
def test_what_a_turn_said_that_is_asked_for_again_is_told_once_or_marked(
    path: str, again: tuple[str, ...], marked: bool, shown: list[str]
) -> None:
    first = "I look it up." if again != ("I look", " it up: Oslo.") else "I look it up"
    with answering(said(first, finish="malformed_function_call"), said(*again)) as served:
        answer = ask(served, path)
        assert (RETRACTED in answer.text, texts(answer)) == (marked, shown)


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("path", PATHS[::2])
def test_a_whole_answer_lacks_what_was_retracted(path: str) -> None:
    broken = said("I look.", finish="malformed_function_call")
    with answering(broken, said("Hm.</think>Oslo.")) as served:
        more: dict[str, Any] = {"stop": ["zzz"]} if path.endswith("completions") else {}
        more = {"stop_sequences": ["zzz"]} if path.endswith("messages") else more
        whole = json.dumps(ask(served, path, in_pieces=False, **more).json())
        assert "Oslo." in whole and "I look." not in whole and "Hm." not in whole
