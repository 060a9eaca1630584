"""A pipeline at work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio

from ...calls.client import InputRequired, Question
from ...calls.context import Context
from ...calls.slots import branching
from ...errors import RequestRefused, ToolFailure
from ..conditions import Condition
from ..templates import TemplateTree, compiled
from ._budget import CallBudget
from ._client import StepClient
from ._replay import Outcome, Replay
from ._steps import StepConfig


@dataclass(frozen=True, slots=True)
class Step:
    """A step, its templates and conditions read."""

    config: StepConfig
    arguments: TemplateTree
    for_each: TemplateTree | None
    condition: Condition

    @classmethod
    def of(cls, config: StepConfig) -> Step:
        """The live step."""
        for_each = None if config.for_each is None else compiled(config.for_each)
        return cls(config, compiled(config.arguments), for_each, Condition(config.when))

    @property
    def title(self) -> str:
        """The step in an error."""
        return f"step '{self.config.id}' (tool '{self.config.tool}')"


class Run:
    """One call of a pipeline: ``scope`` is what its templates see."""

    def __init__(self, arguments: dict[str, Any], context: Context, budget: CallBudget, steps: int) -> None:
        self.scope: dict[str, Any] = {**arguments, "input": arguments, "steps": {}}
        self._context = context
        self._budget = budget
        self._replay = Replay(context.client)
        self._steps = steps

    async def step(self, step: Step) -> None:
        """Do ``step``; what it gave is in the scope then.

        Raises ``ToolFailure`` that names the step when it fails and the pipeline with it, and
        ``InputRequired`` once what was done is kept for the next round.
        """
        done = self.scope["steps"]
        if not step.condition.holds(self.scope):
            done[step.config.id] = {"result": None, "error": None, "skipped": True}
            return
        try:
            done[step.config.id] = await (self._once(step) if step.for_each is None else self._each(step))
        except InputRequired:
            self._replay.keep()
            raise
        await self._context.client.progress(len(done), self._steps, f"step '{step.config.id}' is done")

    async def _once(self, step: Step) -> dict[str, Any]:
        name = step.config.id
        self._spend(step, [name])
        outcome = await self._outcome(step, name, self.scope, step.title, done=len(self.scope["steps"]))
        return {
            "result": outcome.result,
            "error": outcome.error or None,
            "skipped": bool(outcome.error) and step.config.on_error == "skip",
        }

    async def _each(self, step: Step) -> dict[str, Any]:
        items = self._items(step)
        self._spend(step, [_item_name(step, index) for index in range(len(items))])
        outcomes = await _Batch(self, step, items).outcomes()
        leave_out = step.config.on_error == "skip"
        kept = [outcome.result for outcome in outcomes if not (leave_out and outcome.error)]
        errors = [outcome.error for outcome in outcomes if outcome.error]
        return {"result": kept, "error": errors[0] if errors else None, "errors": errors, "skipped": False}

    def _items(self, step: Step) -> Sequence[Any]:
        try:
            items = cast("TemplateTree", step.for_each).render(self.scope)
        except ToolFailure as failure:
            raise _named(failure, step.title) from None
        if not isinstance(items, list | tuple):
            raise ToolFailure(f"{step.title} failed: for_each is no list", error_code="invalid_for_each")
        return cast("Sequence[Any]", items)

    async def item(self, step: Step, index: int, item: Any) -> Outcome:
        """What the call for ``item`` gave."""
        scope = {**self.scope, "item": item, "index": index}
        title = f"{step.title[:-1]}, item {index})"
        return await self._outcome(step, _item_name(step, index), scope, title)

    def _spend(self, step: Step, names: Sequence[str]) -> None:
        """Count the calls ``names`` that are still to be made, before any of them is."""
        try:
            self._budget.spend(sum(self._replay.get(name) is None for name in names))
        except ToolFailure as failure:
            raise _named(failure, step.title) from None

    async def _outcome(
        self, step: Step, name: str, scope: dict[str, Any], title: str, done: int | None = None
    ) -> Outcome:
        """What the call ``name`` gave, now or in an earlier round. Raises as ``step`` does."""
        outcome = self._replay.get(name)
        if outcome is None:
            outcome = await self._called(step, name, scope, done)
            self._replay.note(name, outcome)
        if outcome.error and step.config.on_error == "fail":
            failure = ToolFailure(
                outcome.error, error_code=outcome.error_code, user_action=outcome.user_action
            )
            raise _named(failure, title)
        return outcome

    async def _called(self, step: Step, name: str, scope: dict[str, Any], done: int | None) -> Outcome:
        total = 0 if done is None else self._steps
        client = StepClient(self._context.client, name, done or 0, total)
        context = replace(self._context, client=client)
        try:
            outcome = Outcome.of(await context.call(step.config.tool, step.arguments.render(scope)))
        except ToolFailure as failure:
            outcome = Outcome(None, failure.error, failure.error_code, failure.user_action)
        client.forget()
        return outcome


class _Batch:
    """The calls of a ``for_each``: at most ``concurrency`` at once, results in the items' order."""

    def __init__(self, run: Run, step: Step, items: Sequence[Any]) -> None:
        self._run = run
        self._step = step
        self._count = len(items)
        self._rest = iter(enumerate(items))
        self._outcomes: dict[int, Outcome] = {}
        self._questions: dict[str, Question] = {}
        self._fault: ToolFailure | RequestRefused | None = None

    async def outcomes(self) -> list[Outcome]:
        """What each call gave.

        The first that fails the pipeline ends the others. When some must ask the client, those that run
        already finish, and then all questions are asked at once.
        """
        with branching():
            async with anyio.create_task_group() as group:
                for _ in range(min(self._step.config.concurrency, self._count)):
                    group.start_soon(self._work, group.cancel_scope)
        if self._fault is not None:
            raise self._fault
        if self._questions:
            raise InputRequired(self._questions)
        return [self._outcomes[index] for index in range(self._count)]

    async def _work(self, all_of_them: anyio.CancelScope) -> None:
        for index, item in self._rest:
            try:
                self._outcomes[index] = await self._run.item(self._step, index, item)
            except InputRequired as required:
                self._questions.update(required.questions)
            except (ToolFailure, RequestRefused) as fault:
                self._fault = self._fault or fault
                all_of_them.cancel()
                return
            if self._questions:
                return


def _item_name(step: Step, index: int) -> str:
    return f"{step.config.id}/{index}"


def _named(failure: ToolFailure, title: str) -> ToolFailure:
    return ToolFailure(
        f"{title} failed: {failure.error}",
        error_code=failure.error_code,
        user_action=failure.user_action,
        upstream_status=failure.upstream_status,
    )
