"""One entry of ``tools.registry``: what a model reads of a tool, and how it is implemented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from typing_extensions import override

from ...engines.parameters import Parameters
from ...engines.parameters._safe_schema import object_schema
from ...errors import InvalidParameters
from ...parts.kind import KINDS, KindConfig
from ...problems import Fault, Faulty
from ...schema.records import (
    ANYTHING,
    Record,
    checked,
    choice,
    key,
    made,
    many,
    named,
    optional,
    text,
)
from ...schema.tagged import chosen
from ...schema.values import FLAG, MILLISECONDS
from .tasks import TaskConfig
from .tool_options import (
    AnnotationsConfig,
    ApprovalConfig,
    CacheConfig,
    DeprecationConfig,
    ExampleConfig,
    IconConfig,
    RateLimitConfig,
    or_flag,
    result_schema,
)

TOOL_NAME = r"^[A-Za-z0-9_.-]{1,128}$"
"""MCP 2025-11-25, server/tools: 1–128 of letters, digits, ``_ - .``."""


_IMPLEMENTATION = chosen("kind", KindConfig, KINDS)


class ToolConfig(Record):
    """One tool: what a model reads of it, and how it is implemented."""

    name: str = key(
        text(pattern=TOOL_NAME),
        "Unique name, by which a model calls the tool: letters, digits, _ - and ., at most 128.",
    )
    description: str = key(text(least=1), "What it does and when to use it, for the model.")
    type: Literal["function"] = key(choice("function"), "Always 'function'.", default="function")
    handler: str | None = key(
        optional(text()),
        "A label that older configs carry; the handler is named in implementation.",
        default=None,
    )
    parameters: dict[str, Any] = key(
        checked(named(ANYTHING), object_schema),
        "JSON Schema 2020-12 of the arguments; its root has type: object.",
        factory=lambda: {"type": "object", "properties": {}},
    )
    implementation: KindConfig = key(
        made(_IMPLEMENTATION, definition="Implementation"),
        "What runs when the tool is called; type names the kind.",
    )
    timeout_ms: int | None = key(
        optional(MILLISECONDS),
        "Longest time for one call, in milliseconds; default_timeout_ms without it.",
        default=None,
    )
    title: str | None = key(
        optional(text(least=1, most=200)), "Its name for people; display_name when absent.", default=None
    )
    display_name: str | None = key(
        optional(text(least=1, most=200)),
        "Its name for people, as other tools' configs write it.",
        default=None,
    )
    icons: tuple[IconConfig, ...] = key(many(IconConfig.shape()), "Pictures that stand for it.", default=())
    annotations: AnnotationsConfig | None = key(
        optional(AnnotationsConfig.shape()), "What clients may assume of it.", default=None
    )
    output_schema: dict[str, Any] | None = key(
        optional(checked(named(ANYTHING), result_schema)),
        "JSON Schema 2020-12 of the result, an object; a result that does not fit is a failure.",
        default=None,
        spellings=["output_schema", "outputSchema"],
    )
    tags: tuple[str, ...] = key(many(text(least=1, most=100)), "Words to sort and find it by.", default=())
    category: str | None = key(
        optional(text(least=1, most=100)), "The group that it belongs to.", default=None
    )
    version: str | None = key(optional(text(least=1, most=100)), "The version of the tool.", default=None)
    strict: bool = key(
        FLAG,
        "Whether providers are asked to enforce parameters, where that loses nothing of them.",
        default=False,
    )
    deprecated: DeprecationConfig | None = key(
        or_flag(DeprecationConfig.shape()),
        "Whether it should not be used any more; its description says so then.",
        default=None,
    )
    cache: CacheConfig | None = key(
        optional(CacheConfig.shape()),
        "How long results are given again for equal arguments; only for tools with annotations.read_only.",
        default=None,
    )
    rate_limit: RateLimitConfig | None = key(
        optional(RateLimitConfig.shape()), "How often it may run; a call beyond that fails.", default=None
    )
    approval: ApprovalConfig | None = key(
        or_flag(ApprovalConfig.shape()), "Whether a person is asked before each call.", default=None
    )
    examples: tuple[ExampleConfig, ...] = key(
        many(ExampleConfig.shape()), "Calls and what they give; check --run-examples makes them.", default=()
    )
    task: TaskConfig | None = key(
        optional(TaskConfig.shape()),
        "For long work: clients of the tasks extension get a task at once, and its result later.",
        default=None,
    )

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
