"""Clients of a call, in the test's own process: one that waits for answers, one that is called again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from toolspan_server import Context, Executor
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import InputRequired, NullClient, Question
from toolspan_server.calls.results import ToolResult

Answer = Callable[[str, Question], dict[str, Any]]


def accepting(_key: str, _question: Question) -> dict[str, Any]:
    """Says yes to everything."""
    return {"action": "accept", "content": {}}


def declining(_key: str, _question: Question) -> dict[str, Any]:
    """Says no to everything."""
    return {"action": "decline"}


class Waiting(NullClient):
    """Answers while the call waits, as before 2026-07-28. ``asked`` are the questions so far."""

    def __init__(self, answer: Answer = accepting) -> None:
        super().__init__()
        self.answer = answer
        self.asked: dict[str, Question] = {}
        self.heard: list[tuple[float, float | None, str | None]] = []

    def accepts(self, ability: str) -> bool:
        return True

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        self.asked.update(questions)
        return {key: self.answer(key, question) for key, question in questions.items()}

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.heard.append((progress, total, message))


class Again(NullClient):
    """Has the call made again with its answers, as since 2026-07-28."""

    def __init__(self, answers: Mapping[str, Any], memory: dict[str, Any]) -> None:
        self.answers = answers
        self.memory = memory

    def accepts(self, ability: str) -> bool:
        return True

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        missing = {key: each for key, each in questions.items() if key not in self.answers}
        if missing:
            raise InputRequired(missing)
        return {key: self.answers[key] for key in questions}


async def in_rounds(
    executor: Executor, name: str, arguments: dict[str, Any], answer: Answer = accepting
) -> tuple[ToolResult, list[list[str]]]:
    """The result of a call that is made again with the answers until it has all; what each round asked."""
    answers: dict[str, Any] = {}
    memory: dict[str, Any] = {}
    rounds: list[list[str]] = []
    for _ in range(10):
        memory = json.loads(json.dumps(memory))
        try:
            return await executor.execute(
                name, arguments, Context(LOCAL, client=Again(answers, memory))
            ), rounds
        except InputRequired as required:
            rounds.append(sorted(required.questions))
            answers |= {key: answer(key, each) for key, each in required.questions.items()}
    raise AssertionError(f"the call asks without end: {rounds}")
