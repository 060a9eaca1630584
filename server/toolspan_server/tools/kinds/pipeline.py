"""``pipeline``: calls other tools, one after another, and combines their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, cast

from typing_extensions import override

from ...calls.context import Context
from ...common.tool_hints import Hints, combine_hints
from ...engines.pipelines._budget import budget
from ...engines.pipelines._run import Run, Step
from ...engines.pipelines._steps import StepConfig, check_steps
from ...engines.templates import TemplateTree, check_templates, compiled
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...parts.kind import (
    Callee,
    CallsTools,
    Kind,
    KindConfig,
)
from ...parts.reach import Reach
from ...parts.reference import Reference
from ...schema.constraints import OneOf
from ...schema.records import (
    key,
)

MAX_DEPTH = 8
"""How many pipelines deep calls may be nested."""


class Config(KindConfig):
    """``{"type": "pipeline", "steps": [{"id": …, "tool": …, "arguments": …}], "result": <template>}``.

    Templates see the arguments (``{{ city }}``, ``{{ input.city }}``) and the outcome of earlier steps
    (``{{ steps.ID.result }}``, ``.error``, ``.skipped``).
    """

    type: Annotated[str, OneOf(("pipeline",))] = key(default="pipeline")
    steps: tuple[StepConfig, ...] = key(
        "The calls, in this order; each sees the results of those before it.", least=1
    )
    result: Any = key(
        "The tool's result: a template; the last step's result when absent.",
        check=check_templates,
        default=None,
    )
    max_calls: int = key(
        "Most calls in total, including those of nested pipelines.", least=1, most=1_000, default=100
    )

    @override
    def check(self) -> None:
        """Raise when two steps have the same id, or a step refers to a later one."""
        check_steps(self.steps, self.result)

    @classmethod
    @override
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        steps = written.get("steps")
        for index, step in enumerate(cast("Sequence[Any]", steps) if isinstance(steps, list) else ()):
            if isinstance(step, dict):
                yield Reference(("steps", index, "tool"), "tools", cast("dict[str, Any]", step).get("tool"))

    @override
    def build(self, environment: Environment) -> Kind:
        return Pipeline(self)


class Pipeline(CallsTools):
    """A live pipeline. ``talks`` is true when a tool that it calls does, as far as ``bind`` can find them."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._steps = tuple(Step.of(step) for step in config.steps)
        last = config.steps[-1].id
        given = "result" in config.model_fields_set
        self._result: TemplateTree = compiled(config.result if given else f"{{{{ steps.{last}.result }}}}")
        self._find: Callable[[str], Callee | None] = _find_nothing
        self._looking = False

    @override
    def bind(self, find: Callable[[str], Callee | None]) -> None:
        self._find = find

    @property
    def talks(self) -> bool:
        if self._looking:
            return False
        self._looking = True
        try:
            found = map(self._find, {step.config.tool for step in self._steps})
            return any(tool is not None and tool.talks for tool in found)
        finally:
            self._looking = False

    @property
    @override
    def reach(self) -> Reach:
        if self._looking:
            return "local"
        self._looking = True
        try:
            found = map(self._find, {step.config.tool for step in self._steps})
            reaches = {"outside" if tool is None else tool.reach for tool in found}
            return "outside" if "outside" in reaches else "code" if "code" in reaches else "local"
        finally:
            self._looking = False

    @property
    @override
    def hints(self) -> Hints:
        if self._looking:
            return {}
        self._looking = True
        try:
            found = map(self._find, {step.config.tool for step in self._steps})
            return combine_hints({} if tool is None else tool.hints for tool in found)
        finally:
            self._looking = False

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Any:
        """The result, once every step is done. Raises ``ToolFailure`` that names the failed step."""
        if context.depth >= MAX_DEPTH:
            raise ToolFailure(
                f"Pipelines call each other more than {MAX_DEPTH} deep",
                error_code="too_deep",
                user_action="Correct the pipelines in the config: they may call each other without end.",
            )
        with budget(self._config.max_calls) as calls:
            run = Run(dict(arguments), context, calls, len(self._steps))
            for step in self._steps:
                await run.step(step)
            return self._result.render(run.scope)


def _find_nothing(_name: str) -> None:
    return None
