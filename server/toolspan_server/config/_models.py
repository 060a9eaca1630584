"""The config file as data: frozen models, and the source of the published JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
)
from typing_extensions import override

from ..kinds import KindConfig, kind_config, kind_names
from ..services.collections import Config as CollectionsConfig
from ..suggestions import nearest
from ._faults import Misfit, shown
from ._intents import intent_pattern
from ._parameters import object_schema
from ._problems import Fault, Faulty, Problem
from ._secrets import pattern
from ._servers import McpServerConfig
from ._values import Count, Flag, Iterations, Milliseconds, ResultBytes, Temperature

TOOL_NAME = r"^[A-Za-z0-9_.-]{1,128}$"
"""MCP 2025-11-25, server/tools: 1–128 of letters, digits, ``_ - .``."""


class Strict(BaseModel):
    """Frozen; unknown keys are errors; no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


def _implementation(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, KindConfig):
        return value
    if not isinstance(value, Mapping):
        raise Faulty(Fault((), f"must be an object with a 'type', not {shown(value)}", _kinds_known()))
    given = cast("Mapping[str, Any]", value)
    if "type" not in given:
        raise Faulty(Fault((), "'type' is missing", _kinds_known()))
    name = given["type"]
    if not isinstance(name, str) or name not in kind_names():
        raise Faulty(Fault(("type",), f"unknown kind {shown(name)}", nearest(str(name), kind_names())))
    model = kind_config(name)
    try:
        return model.model_validate(given, context=cast("Any", info.context))
    except ValidationError as error:
        raise Misfit(model, error) from None


def _kinds_known() -> str:
    return "known kinds: " + ", ".join(kind_names())


class ToolConfig(Strict):
    """One tool: what a model reads of it, and how it is implemented."""

    name: str = Field(
        pattern=TOOL_NAME,
        description="Unique name, by which a model calls the tool: letters, digits, _ - and ., at most 128.",
    )
    description: str = Field(min_length=1, description="What it does and when to use it, for the model.")
    type: Literal["function"] = Field(default="function", description="Always 'function'.")
    handler: str | None = Field(
        default=None, description="A label that older configs carry; the handler is named in implementation."
    )
    parameters: Annotated[dict[str, Any], AfterValidator(object_schema)] = Field(
        default_factory=lambda: {"type": "object", "properties": {}},
        description="JSON Schema 2020-12 of the arguments; its root has type: object.",
    )
    implementation: Annotated[SerializeAsAny[KindConfig], BeforeValidator(_implementation)] = Field(
        description="What runs when the tool is called; type names the kind."
    )
    timeout_ms: Milliseconds | None = Field(
        default=None,
        description="Longest time for one call, in milliseconds; default_timeout_ms without it.",
    )


class ToolsConfig(Strict):
    """The tools and the limits that they share."""

    enabled: Flag = Field(default=True, description="Whether any tool is served.")
    max_iterations: Iterations = Field(
        default=5, description="How many times a model may call tools before it has to answer."
    )
    default_timeout_ms: Milliseconds = Field(
        default=30_000, description="Longest time for one call of a tool, in milliseconds."
    )
    registry: tuple[ToolConfig, ...] = Field(default=(), description="The tools.")


class ResponseMatch(Strict):
    """When a route applies: every condition given must hold."""

    intent_regexp: Annotated[str, AfterValidator(intent_pattern)] | None = Field(
        default=None,
        description="RE2 pattern looked for in the user's message: plain, /in slashes/ or /in any case/i.",
    )
    service: str | None = Field(default=None, description="The service that the message is for.")


class ResponseTools(Strict):
    """Which tools a route offers."""

    enabled: Flag = Field(default=True, description="Whether the route offers tools.")
    allowed_tools: tuple[str, ...] | None = Field(
        default=None, description="Names of the tools offered; all of them when absent."
    )
    max_iterations: Iterations | None = Field(
        default=None, description="How many times the model may call tools; tools.max_iterations when absent."
    )


class ResponseRule(Strict):
    """A route: which model answers, with which prompt and tools."""

    match: ResponseMatch = Field(
        default=ResponseMatch(), description="When the route applies; empty: always."
    )
    llm: str | None = Field(default=None, description="The provider, such as openai or ollama.")
    model: str | None = Field(default=None, description="The provider's name of the model.")
    prompt: str | None = Field(default=None, description="Template of the prompt, over {{user_message}}.")
    max_tokens: Count | None = Field(default=None, description="Most tokens in one reply.")
    temperature: Temperature | None = Field(default=None, description="Randomness of the reply.")
    tools: ResponseTools | None = Field(default=None, description="Which tools the route offers.")


class ServicesConfig(Strict):
    """The services that internal handlers use."""

    collections: CollectionsConfig | None = Field(
        default=None, description="Folders of documents that tools can search, by name."
    )

    def configured(self) -> dict[str, Any]:
        """Each configured service's config, by the service's name."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}


class LimitsConfig(Strict):
    """Limits on what comes in and goes out."""

    result_bytes: ResultBytes = Field(default=1_048_576, description="Largest tool result, in bytes of JSON.")


class Config(Strict):
    """A Toolspan config file."""

    schema_: str | None = Field(default=None, alias="$schema", description="For editors; not used.")
    version: Literal[1] = Field(default=1, description="Version of the file format.")
    name: str = Field(default="toolspan", min_length=1, description="How the MCP server introduces itself.")
    instructions: str | None = Field(default=None, description="What the server tells a client about itself.")
    state_dir: str = Field(
        default=".toolspan", min_length=1, description="Where state lives, relative to this file's folder."
    )
    handlers: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Python modules, or .py files beside this one, whose handlers are registered."
    )
    tools: ToolsConfig = Field(default=ToolsConfig(), description="The tools and the limits that they share.")
    services: ServicesConfig = Field(
        default=ServicesConfig(), description="The services that internal handlers use."
    )
    responses: tuple[ResponseRule, ...] = Field(
        default=(),
        description="Routes: which model answers what, with which tools; the first match is used.",
    )
    mcp_servers: dict[str, McpServerConfig] = Field(
        default_factory=dict[str, McpServerConfig],
        alias="mcpServers",
        validation_alias=AliasChoices("mcpServers", "mcp_servers", "servers"),
        description="MCP servers whose tools the bridge offers to models, as other MCP clients write them.",
    )
    limits: LimitsConfig = Field(default=LimitsConfig(), description="Limits on what comes in and goes out.")

    _files: tuple[Path, ...] = PrivateAttr(default=())
    _secrets: frozenset[str] = PrivateAttr(default=frozenset())
    _secret_pattern: re.Pattern[str] | None = PrivateAttr(default=None)
    _skipped: tuple[Problem, ...] = PrivateAttr(default=())

    def with_origin(
        self, *, files: tuple[Path, ...], secrets: frozenset[str], skipped: tuple[Problem, ...]
    ) -> Self:
        """The same config, told where it came from."""
        config = self.model_copy()
        config._files = files
        config._secrets = secrets
        config._secret_pattern = pattern(secrets)
        config._skipped = skipped
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

    def redact(self, text: str) -> str:
        """``text`` without any value that came from a variable and is not itself served, also where escaped.

        Values of less than four characters stay: they occur in any text by chance.
        """
        return text if self._secret_pattern is None else self._secret_pattern.sub("***", text)

    @override
    def __repr__(self) -> str:
        return self.redact(super().__repr__())

    @override
    def __str__(self) -> str:
        return self.redact(super().__str__())
