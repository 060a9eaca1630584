"""The config file as data: frozen records, and the source of the published JSON Schema."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, Self

from typing_extensions import override

from .._records import ANYTHING, Record, checked, choice, key, made, many, named, optional, text
from ..kinds import KindConfig, kind_config, kind_names
from ..services.collections import Config as CollectionsConfig
from ..services.databases import Config as DatabasesConfig
from ..services.upstreams import Config as UpstreamsConfig
from ..sources import SourceConfig, source_config, source_names
from ._auth import AuthConfig
from ._chosen import chosen
from ._intents import intent_pattern
from ._limits import LimitsConfig
from ._parameters import object_schema
from ._paths import inside
from ._problems import Problem
from ._prompts import PromptConfig
from ._providers import PROVIDER_NAME, ProviderConfig
from ._resources import ResourceConfig, ResourceTemplateConfig
from ._secrets import InBase64, pattern
from ._sent import SentVariable
from ._servers import McpServerConfig
from ._serving import ServingConfig
from ._tasks import TaskConfig
from ._tool_options import (
    AnnotationsConfig,
    ApprovalConfig,
    CacheConfig,
    DeprecationConfig,
    ExampleConfig,
    IconConfig,
    RateLimitConfig,
    check_options,
    or_flag,
    result_schema,
)
from ._toolsets import TOOLSET_NAME, ToolsetConfig
from ._values import COUNT, FLAG, ITERATIONS, MILLISECONDS, TEMPERATURE

TOOL_NAME = r"^[A-Za-z0-9_.-]{1,128}$"
"""MCP 2025-11-25, server/tools: 1–128 of letters, digits, ``_ - .``."""


_IMPLEMENTATION = chosen("kind", KindConfig, kind_names, kind_config)
_SOURCE = chosen("type of source", SourceConfig, source_names, source_config)


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
        check_options(self)


class ToolsConfig(Record):
    """The tools and the limits that they share."""

    enabled: bool = key(FLAG, "Whether any tool is served.", default=True)
    max_iterations: int = key(
        ITERATIONS, "How many times a model may call tools before it has to answer.", default=5
    )
    default_timeout_ms: int = key(
        MILLISECONDS, "Longest time for one call of a tool, in milliseconds.", default=30_000
    )
    registry: tuple[ToolConfig, ...] = key(many(ToolConfig.shape()), "The tools.", default=())
    sources: tuple[SourceConfig, ...] = key(
        many(made(_SOURCE, definition="Source")),
        "Where more tools come from, many at once: other MCP servers, API descriptions.",
        default=(),
    )


class ResponseMatch(Record):
    """When a route applies: every condition given must hold."""

    intent_regexp: str | None = key(
        optional(checked(text(), intent_pattern)),
        "RE2 pattern looked for in the user's message: plain, /in slashes/ or /in any case/i.",
        default=None,
    )
    service: str | None = key(optional(text()), "The service that the message is for.", default=None)


BUILTIN = "builtin:"
"""Before the name of a tool of the provider's own, in a route's ``allowed_tools``."""


class ResponseTools(Record):
    """Which tools a route offers."""

    enabled: bool = key(FLAG, "Whether the route offers tools.", default=True)
    allowed_tools: tuple[str, ...] | None = key(
        optional(many(text())),
        "Names of the tools offered; all of them when absent. builtin:NAME is a tool of the provider's own, "
        "such as builtin:web_search.",
        default=None,
    )
    max_iterations: int | None = key(
        optional(ITERATIONS),
        "How many times the model may call tools; tools.max_iterations when absent.",
        default=None,
    )


class ResponseRule(Record):
    """A route: which model answers, with which prompt and tools."""

    match: ResponseMatch = key(
        ResponseMatch.shape(), "When the route applies; empty: always.", factory=ResponseMatch.initial
    )
    llm: str | None = key(optional(text()), "The provider, such as openai or ollama.", default=None)
    model: str | None = key(optional(text()), "The provider's name of the model.", default=None)
    prompt: str | None = key(optional(text()), "Template of the prompt, over {{user_message}}.", default=None)
    max_tokens: int | None = key(optional(COUNT), "Most tokens in one reply.", default=None)
    temperature: float | None = key(optional(TEMPERATURE), "Randomness of the reply.", default=None)
    tools: ResponseTools | None = key(
        optional(ResponseTools.shape()), "Which tools the route offers.", default=None
    )


class ServicesConfig(Record):
    """The services that internal handlers use."""

    collections: CollectionsConfig | None = key(
        optional(CollectionsConfig.shape()),
        "Folders of documents that tools can search, by name.",
        default=None,
    )
    databases: DatabasesConfig | None = key(
        optional(DatabasesConfig.shape()),
        "SQL databases that tools can ask, by name.",
        default=None,
    )
    upstreams: UpstreamsConfig | None = key(
        optional(UpstreamsConfig.shape()),
        "Other MCP servers, by name, whose tools are offered by tools.sources or kind mcp.",
        default=None,
    )

    def configured(self) -> dict[str, Any]:
        """Each configured service's config, by the service's name."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}


class Config(Record):
    """A Toolspan config file."""

    schema_: str | None = key(optional(text()), "For editors; not used.", default=None, spellings=["$schema"])
    version: Literal[1] = key(choice(1), "Version of the file format.", default=1)
    name: str = key(text(least=1), "How the MCP server introduces itself.", default="toolspan")
    instructions: str | None = key(
        optional(text()), "What the server tells a client about itself.", default=None
    )
    request_state_key: str | None = key(
        optional(text(least=32)),
        "Secret that seals what clients carry between the rounds of a call; the same in all replicas.",
        default=None,
        hidden=True,
    )
    state_dir: str = key(
        text(least=1), "Where state lives, relative to this file's folder.", default=".toolspan"
    )
    handlers: tuple[str, ...] = key(
        many(text(least=1)),
        "Python modules, or .py files beside this one, whose handlers are registered.",
        default=(),
    )
    tools: ToolsConfig = key(
        ToolsConfig.shape(), "The tools and the limits that they share.", factory=ToolsConfig.initial
    )
    services: ServicesConfig = key(
        ServicesConfig.shape(),
        "The services that internal handlers use.",
        factory=ServicesConfig.initial,
    )
    resources: tuple[ResourceConfig, ...] = key(
        many(ResourceConfig.shape()), "What clients may read: literals, files, globs.", default=()
    )
    resource_templates: tuple[ResourceTemplateConfig, ...] = key(
        many(ResourceTemplateConfig.shape()), "What clients may read at URIs with variables.", default=()
    )
    skills: str | None = key(
        optional(checked(text(least=1), inside)),
        "Folder of skills, each a folder with a SKILL.md; relative to this file's folder.",
        default=None,
    )
    prompts: tuple[PromptConfig, ...] = key(
        many(PromptConfig.shape()), "Messages that people pick, over arguments that they give.", default=()
    )
    responses: tuple[ResponseRule, ...] = key(
        many(ResponseRule.shape()),
        "Routes: which model answers what, with which tools; the first match is used.",
        default=(),
    )
    mcp_servers: dict[str, McpServerConfig] = key(
        named(McpServerConfig.shape()),
        "MCP servers whose tools the bridge offers to models, as other MCP clients write them.",
        factory=dict,
        spellings=["mcpServers", "mcp_servers", "servers"],
    )
    providers: dict[str, ProviderConfig] = key(
        named(ProviderConfig.shape(), names=text(pattern=PROVIDER_NAME)),
        "Services that answer for models beside the known ones, by name; their models are NAME/MODEL.",
        factory=dict,
    )
    toolsets: dict[str, ToolsetConfig] = key(
        named(ToolsetConfig.shape(), names=text(pattern=TOOLSET_NAME)),
        "Parts of the tools by name, each served at /mcp/NAME, and on stdio by --toolset NAME.",
        factory=dict,
    )
    serving: ServingConfig = key(
        ServingConfig.shape(), "How the config is served.", factory=ServingConfig.initial
    )
    auth: AuthConfig | None = key(
        optional(AuthConfig.shape()),
        "Who may use the server over HTTP; without it, see --token-env.",
        default=None,
    )
    limits: LimitsConfig = key(
        LimitsConfig.shape(), "Limits on what comes in and goes out.", factory=LimitsConfig.initial
    )

    _files: tuple[Path, ...] = ()
    _secrets: frozenset[str] = frozenset()
    _secret_pattern: re.Pattern[str] | None = None
    _in_base64: InBase64 | None = None
    _skipped: tuple[Problem, ...] = ()
    _imported: bool = True
    _sent: tuple[SentVariable, ...] = ()

    def with_origin(
        self,
        *,
        files: tuple[Path, ...],
        secrets: frozenset[str],
        skipped: tuple[Problem, ...],
        imported: bool = True,
        sent: tuple[SentVariable, ...] = (),
    ) -> Self:
        """The same config, told where it came from."""
        config = self.model_copy()
        config._files = files
        config._secrets = secrets
        config._secret_pattern = pattern(secrets)
        config._in_base64 = InBase64(secrets)
        config._skipped = skipped
        config._imported = imported
        config._sent = sent
        return config

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that this config was read from; empty for one built in code."""
        return self._files

    @property
    def directory(self) -> Path:
        """What relative paths in the config start at: the first file's folder."""
        return self._files[0].parent if self._files else Path.cwd()

    @property
    def state_directory(self) -> Path:
        """Where state lives (``.toolspan`` beside the config unless ``state_dir`` says otherwise)."""
        return self.directory / self.state_dir

    @property
    def skipped(self) -> tuple[Problem, ...]:
        """Why tools were left out by ``skip_invalid``: every problem of every one of them."""
        return self._skipped

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The modules of handlers that were only read: whether they can be imported, and what options their
        handlers take, nobody has looked at."""
        return () if self._imported else self.handlers

    @property
    def sent(self) -> tuple[SentVariable, ...]:
        """The variables of the environment whose values can leave the machine, and where to."""
        return self._sent

    @property
    def has_secrets(self) -> bool:
        """Whether there is anything that ``redact`` takes out of texts."""
        return self._secret_pattern is not None

    def redact(self, text: str) -> str:
        """``text`` without any value that came from a variable and is not itself served, also where escaped.

        Values of less than four characters stay: they occur in any text by chance. In Base64, those of eight
        bytes and more are found too.
        """
        if self._secret_pattern is None:
            return text
        return self.redact_base64(self._secret_pattern.sub("***", text))

    def redact_base64(self, text: str) -> str:
        """``text``, which is data in Base64, with zeros where it holds such a value."""
        return self._in_base64(text) if self._in_base64 else text

    @override
    def __repr__(self) -> str:
        return self.redact(super().__repr__())

    @override
    def __str__(self) -> str:
        return self.redact(super().__str__())
