"""One entry of ``tools.registry``: what a model reads of a tool, and how it is implemented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from typing_extensions import override

from ...engines.parameters import Parameters
from ...engines.parameters._safe_schema import object_schema
from ...errors import InvalidParameters
from ...parts.kind import KINDS, KindConfig
from ...parts.step import STEPS
from ...problems import Fault, Faulty
from ...schema.constraints import Limits, PlainValidator
from ...schema.records import (
    Record,
    key,
)
from ...schema.tagged import chosen
from ...schema.values import Milliseconds
from .tasks import TaskConfig
from .tool_options import (
    OR_FLAG,
    AnnotationsConfig,
    ApprovalConfig,
    CacheConfig,
    DeprecationConfig,
    ExampleConfig,
    IconConfig,
    RateLimitConfig,
    result_schema,
)

TOOL_NAME = r"^[A-Za-z0-9_.-]{1,128}$"
"""MCP 2025-11-25, server/tools: 1–128 of letters, digits, ``_ - .``."""


_Implementation = Annotated[
    KindConfig, PlainValidator(chosen("kind", KindConfig, KINDS), {"definition": "Implementation"})
]

_STEP_KEYS = STEPS.own_keys()


class ToolConfig(Record):
    """One tool: what a model reads of it, and how it is implemented."""

    name: str = key(
        "Unique name, by which a model calls the tool: letters, digits, _ - and ., at most 128.",
        pattern=TOOL_NAME,
        served=True,
    )
    description: str = key("What it does and when to use it, for the model.", least=1, served=True)
    type: Literal["function"] = key("Always 'function'.", default="function")
    handler: str | None = key(
        "A label that older configs carry; the handler is named in implementation.",
        default=None,
    )
    parameters: dict[str, Any] = key(
        "JSON Schema 2020-12 of the arguments; its root has type: object.",
        check=object_schema,
        factory=lambda: {"type": "object", "properties": {}},
        served=True,
    )
    implementation: _Implementation = key(
        "What runs when the tool is called; type names the kind.",
    )
    timeout_ms: Milliseconds | None = key(
        "Longest time for one call, in milliseconds; default_timeout_ms without it.",
        default=None,
    )
    title: str | None = key(
        "Its name for people; display_name when absent.", least=1, most=200, default=None, served=True
    )
    display_name: str | None = key(
        "Its name for people, as other tools' configs write it.", least=1, most=200, default=None, served=True
    )
    icons: tuple[IconConfig, ...] = key("Pictures that stand for it.", default=(), served=True)
    annotations: AnnotationsConfig | None = key("What clients may assume of it.", default=None)
    output_schema: dict[str, Any] | None = key(
        "JSON Schema 2020-12 of the result, an object; a result that does not fit is a failure.",
        check=result_schema,
        default=None,
        spellings=["output_schema", "outputSchema"],
        served=True,
    )
    tags: tuple[Annotated[str, Limits(least=1, most=100)], ...] = key(
        "Words to sort and find it by.", default=(), served=True
    )
    category: str | None = key("The group that it belongs to.", least=1, most=100, default=None, served=True)
    version: str | None = key("The version of the tool.", least=1, most=100, default=None, served=True)
    strict: bool = key(
        "Whether providers are asked to enforce parameters, where that loses nothing of them.",
        default=False,
    )
    deprecated: Annotated[DeprecationConfig | None, OR_FLAG] = key(
        "Whether it should not be used any more; its description says so then.", default=None, served=True
    )
    cache: CacheConfig | None = key(
        "How long results are given again for equal arguments; only for tools with annotations.read_only.",
        default=None,
    )
    rate_limit: RateLimitConfig | None = key("How often it may run; a call beyond that fails.", default=None)
    approval: Annotated[ApprovalConfig | None, OR_FLAG] = key(
        "Whether a person is asked before each call.", default=None, served=True
    )
    examples: tuple[ExampleConfig, ...] = key(
        "Calls and what they give; check --run-examples makes them.", default=(), served=True
    )
    task: TaskConfig | None = key(
        "For long work: clients of the tasks extension get a task at once, and its result later.",
        default=None,
    )

    __annotations__.update({name: config | None for name, config in _STEP_KEYS.items()})
    vars().update({name: key(config.about(), default=None) for name, config in _STEP_KEYS.items()})

    @override
    def check(self) -> None:
        """A cache needs a tool that changes nothing, an example arguments that fit."""
        _check_options(self)


def _check_options(tool: ToolConfig) -> None:
    """Raise ``Faulty`` when what ``tool`` says of itself does not go together."""
    faults = [*_cache_faults(tool), *_example_faults(tool)]
    if faults:
        raise Faulty(*faults)


def _cache_faults(tool: ToolConfig) -> Iterator[Fault]:
    if tool.cache is not None and not (tool.annotations is not None and tool.annotations.read_only):
        hint = "add annotations: {read_only: true} if a call changes nothing, or remove the cache"
        yield Fault(("cache",), "only a tool that is read-only can have a cache", hint, on_key=True)


def _example_faults(tool: ToolConfig) -> Iterator[Fault]:
    """An example that shows ``invalid_parameters`` may have arguments that do not fit."""
    if not tool.examples:
        return
    parameters = Parameters(tool.parameters)
    for index, example in enumerate(tool.examples):
        if example.error == InvalidParameters.error_code:
            continue
        try:
            parameters.accept(example.arguments)
        except InvalidParameters as error:
            message = "do not fit the parameters: " + ", ".join(error.faults)
            hint = f"correct them, or expect error: {InvalidParameters.error_code}"
            yield Fault(("examples", index, "arguments"), message, hint)
