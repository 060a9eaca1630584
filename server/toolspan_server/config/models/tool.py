"""One entry of ``tools.registry``: a tool's interface for models, and its implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from typing_extensions import override

from ...common.tool_hints import join_hints
from ...engines.parameters import Parameters
from ...engines.parameters._safe_schema import object_schema
from ...errors import InvalidParameters
from ...parts.kind import KINDS, KindConfig
from ...parts.step import STEPS
from ...problems import Fault, Faulty
from ...schema.constraints import Limits, PlainValidator
from ...schema.keys import CHOICE, DATA, PARTS, Inert
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


META_PREFIX = "dev.toolspan/"
"""What the names of our own keys in a tool's ``_meta`` start with: ``dev.toolspan/tags``."""


def _foreign_meta(meta: dict[str, Any]) -> dict[str, Any]:
    if own := next((name for name in meta if name.startswith(META_PREFIX)), None):
        raise ValueError(f"{own!r} is a name of ours (write the key that it stands for, such as tags)")
    return meta


_Implementation = Annotated[
    KindConfig, PlainValidator(chosen("kind", KindConfig, KINDS), {"definition": "Implementation"})
]

_STEP_KEYS = STEPS.own_keys()


class ToolConfig(Record):
    """One tool: its interface for models, and its implementation."""

    name: str = key(
        "The unique name by which models call the tool: letters, digits, _ - and ., at most 128.",
        pattern=TOOL_NAME,
        served=True,
        inert=DATA,
    )
    description: str = key(
        "What the tool does and when to use it, for the model.", least=1, served=True, inert=DATA
    )
    type: Literal["function"] = key("Always 'function'.", default="function", inert=DATA)
    handler: str | None = key(
        "A label in older configs; the handler is named in implementation.", default=None, inert=DATA
    )
    parameters: dict[str, Any] = key(
        "JSON Schema 2020-12 of the arguments; its root has type: object.",
        check=object_schema,
        factory=lambda: {"type": "object", "properties": {}},
        served=True,
        inert=DATA,
    )
    implementation: _Implementation = key("How the tool is implemented; type names the kind.", inert=PARTS)
    timeout_ms: Milliseconds | None = key(
        "Longest time for one call, in milliseconds; default_timeout_ms when absent.",
        default=None,
        inert=Inert("a call of an inert tool does nothing but take time"),
    )
    title: str | None = key(
        "Its name for people; display_name when absent.",
        least=1,
        most=200,
        default=None,
        served=True,
        inert=DATA,
    )
    display_name: str | None = key(
        "Its name for people, as other tools' configs write it.",
        least=1,
        most=200,
        default=None,
        served=True,
        inert=DATA,
    )
    icons: tuple[IconConfig, ...] = key("Icons of the tool.", default=(), served=True, inert=PARTS)
    annotations: AnnotationsConfig | None = key(
        "Hints about the tool's behaviour, for clients.",
        default=None,
        inert=Inert("they are hints, about a tool that is inert whatever they say"),
    )
    output_schema: dict[str, Any] | None = key(
        "JSON Schema 2020-12 of the result, an object; an invalid result is a failure.",
        check=result_schema,
        default=None,
        spellings=["output_schema", "outputSchema"],
        served=True,
        inert=DATA,
    )
    tags: tuple[Annotated[str, Limits(least=1, most=100)], ...] = key(
        "Tags by which to sort and find the tool.", default=(), served=True, inert=DATA
    )
    meta: dict[str, Any] = key(
        "Further _meta of its entry in tools/list, for other programs; names of dev.toolspan/ are ours.",
        check=_foreign_meta,
        factory=dict,
        spellings=["_meta", "meta"],
        served=True,
        inert=DATA,
    )
    category: str | None = key(
        "The group that it belongs to.", least=1, most=100, default=None, served=True, inert=DATA
    )
    version: str | None = key(
        "The version of the tool.", least=1, most=100, default=None, served=True, inert=DATA
    )
    strict: bool = key(
        "Whether providers should enforce parameters (strict mode), where that loses nothing of the schema.",
        default=False,
        inert=CHOICE,
    )
    sequential: bool = key(
        "Whether ask and chat, and clients that heed it, run no other call beside one of it.",
        default=False,
        inert=CHOICE,
    )
    deprecated: Annotated[DeprecationConfig | None, OR_FLAG] = key(
        "Marks the tool as deprecated, also in its description.", default=None, served=True, inert=DATA
    )
    cache: CacheConfig | None = key(
        "Reuses results for equal arguments; only for tools with annotations.read_only.",
        default=None,
        inert=Inert("it keeps results of inert tools, within its own bounds"),
    )
    rate_limit: RateLimitConfig | None = key(
        "How often the tool may run; calls beyond that fail.", default=None, inert=Inert("it only narrows")
    )
    approval: Annotated[ApprovalConfig | None, OR_FLAG] = key(
        "Asks a person before each call.", default=None, served=True, inert=Inert("it only narrows")
    )
    examples: tuple[ExampleConfig, ...] = key(
        "Calls with their results; check --run-examples runs them.",
        default=(),
        served=True,
        inert=Inert("they are calls of the tool itself, which is inert"),
    )
    task: TaskConfig | None = key(
        "For long-running tools: clients of the tasks extension get a task at once, and its result later.",
        default=None,
        inert=CHOICE,
    )

    __annotations__.update({name: config | None for name, config in _STEP_KEYS.items()})
    vars().update(
        {name: key(config.about(), default=None, inert=config.inert) for name, config in _STEP_KEYS.items()}
    )

    @override
    def check(self) -> None:
        """Check that only a read-only tool has a cache, and that examples' arguments are valid."""
        _check_options(self)


def _check_options(tool: ToolConfig) -> None:
    """Raise ``Faulty`` when options of ``tool`` contradict each other."""
    faults = [*_cache_faults(tool), *_example_faults(tool)]
    if faults:
        raise Faulty(*faults)


def _cache_faults(tool: ToolConfig) -> Iterator[Fault]:
    said: dict[str, Any] = {} if tool.annotations is None else tool.annotations.model_dump()
    if tool.cache is not None and not join_hints(said, tool.implementation.hints()).get("read_only"):
        hint = "add annotations: {read_only: true} if a call changes nothing, or remove the cache"
        yield Fault(("cache",), "only a tool that is read-only can have a cache", hint, on_key=True)


def _example_faults(tool: ToolConfig) -> Iterator[Fault]:
    """Faults of examples' arguments; one that expects ``invalid_parameters`` may have invalid ones."""
    if not tool.examples:
        return
    parameters = Parameters(tool.parameters, fill_defaults=tool.implementation.fills_defaults)
    for index, example in enumerate(tool.examples):
        if example.error == InvalidParameters.error_code:
            continue
        try:
            parameters.accept(example.arguments)
        except InvalidParameters as error:
            message = "do not fit the parameters: " + ", ".join(error.faults)
            hint = f"correct them, or expect error: {InvalidParameters.error_code}"
            yield Fault(("examples", index, "arguments"), message, hint)
