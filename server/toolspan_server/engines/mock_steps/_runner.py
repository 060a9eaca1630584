"""The steps of a mock, taken: progress, log messages, questions to the client, waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ...calls.client import Ability, Question
from ...common.changes import Change
from ..conditions import Condition
from ..templates import Scope, TemplateTree, compiled
from ._mock_call import MockCall
from ._steps import (
    MockElicitation,
    MockLog,
    MockProgress,
    MockQuestion,
    MockSampling,
    MockStep,
)


class MockSteps:
    """Everything that a mock does before it answers."""

    def __init__(self, steps: Sequence[MockStep], *, stops: bool) -> None:
        self._steps = [_Step(step) for step in steps]
        self._stops = stops

    async def run(self, call: MockCall) -> bool:
        """Run the steps that earlier rounds did not run.

        With ``stops`` it ends at the first question that the user does not accept, and returns ``False``.
        Raises ``InputRequired`` where the client's answers come with another round.
        """
        earlier = call.done
        for at, step in enumerate(self._steps):
            if at < earlier and not step.asks:
                continue
            if step.condition.holds(call.scope):
                if at >= earlier:
                    call.keep(at)
                await step.take(call)
                if self._stops and step.declined(call):
                    return False
            if at >= earlier:
                call.keep(at + 1)
        return True


class _Step:
    def __init__(self, config: MockStep) -> None:
        self.condition = Condition(config.when)
        self._config = config
        self._questions = {name: _Question(question) for name, question in (config.ask or {}).items()}
        self._text = compiled(config.progress.message if config.progress else None, texts=True)
        self._data = compiled(config.log.data if config.log else None)

    @property
    def asks(self) -> bool:
        return bool(self._questions)

    async def take(self, call: MockCall) -> None:
        client, config = call.context.client, self._config
        if self._questions:
            await self._ask(call)
        elif config.progress is not None:
            await self._report(call, config.progress)
        elif config.log is not None:
            await self._log(call, config.log)
        elif config.delay_ms is not None:
            await asyncio.sleep(config.delay_ms / 1000)
        elif config.release:
            await client.release()
        elif config.change is not None:
            call.context.publish(Change(cast("Any", config.change)))

    def declined(self, call: MockCall) -> bool:
        """Whether the user did not accept one of the step's questions."""
        return any(
            question.ability == "elicitation" and call.answers[name].get("action") != "accept"
            for name, question in self._questions.items()
            if name in call.answers
        )

    async def _ask(self, call: MockCall) -> None:
        asked = {
            name: question.rendered(call.scope)
            for name, question in self._questions.items()
            if question.condition.holds(call.scope)
        }
        if asked:
            call.answers.update(await call.context.client.ask(asked))

    async def _report(self, call: MockCall, config: MockProgress) -> None:
        message = self._text.render(call.scope)
        await call.context.client.progress(config.progress, config.total, message)

    async def _log(self, call: MockCall, config: MockLog) -> None:
        data = self._data.render(call.scope)
        await call.context.client.log(cast("Any", config.level), data, config.logger)


class _Question:
    def __init__(self, config: MockQuestion) -> None:
        self.ability: Ability = config.ability
        self.condition = Condition(config.when)
        self._params = _params(config)
        self._visits = config.elicitation is not None and config.elicitation.url is not None

    def rendered(self, scope: Scope) -> Question:
        """The question of this call."""
        params: dict[str, Any] = self._params.render(scope)
        if self._visits and "elicitationId" not in params:
            from uuid import uuid4

            params = {**params, "elicitationId": str(uuid4())}
        return Question(self.ability, params)


def _params(config: MockQuestion) -> TemplateTree:
    if config.elicitation is not None:
        return compiled(_elicitation(config.elicitation), texts=True)
    if config.sampling is not None:
        return compiled(_sampling(config.sampling), texts=True)
    return compiled({})


def _elicitation(config: MockElicitation) -> Mapping[str, Any]:
    if config.url is None:
        schema = config.requested_schema or {"type": "object", "properties": {}}
        return {"message": config.message, "requestedSchema": schema}
    given = {"mode": "url", "message": config.message, "url": config.url}
    return given if config.elicitation_id is None else {**given, "elicitationId": config.elicitation_id}


def _sampling(config: MockSampling) -> Mapping[str, Any]:
    params = {
        "messages": list(config.messages),
        "maxTokens": config.max_tokens,
        "systemPrompt": config.system_prompt,
        "temperature": config.temperature,
        "stopSequences": config.stop_sequences,
        "modelPreferences": config.model_preferences,
    }
    return {name: value for name, value in params.items() if value is not None}
