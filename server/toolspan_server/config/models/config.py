"""The config file as data: frozen records, and the source of the published JSON Schema."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from typing_extensions import override

from ...common.redaction import InBase64, pattern
from ...problems import Problem
from ...schema.constraints import Limits
from ...schema.deferred import Deferred
from ...schema.paths import inside
from ...schema.records import (
    Record,
    key,
)
from .limits import LimitsConfig
from .names import PROVIDER_NAME, TOOLSET_NAME
from .sent_variable import SentVariable
from .services import ServicesConfig
from .serving import ServingConfig
from .tools import ToolsConfig

if TYPE_CHECKING:
    from ...schema.mcp_server import McpServerConfig
    from .approvals import ApprovalsConfig
    from .auth import AuthConfig
    from .prompts import PromptConfig
    from .providers import ProviderConfig
    from .resources import ResourceConfig, ResourceTemplateConfig
    from .routes import ResponseRule
    from .toolsets import ToolsetConfig
else:
    _HERE, _SCHEMA = __package__, "toolspan_server.schema"
    ApprovalsConfig = Deferred.of(_HERE, "approvals", "ApprovalsConfig")
    AuthConfig = Deferred.of(_HERE, "auth", "AuthConfig")
    McpServerConfig = Deferred.of(_SCHEMA, "mcp_server", "McpServerConfig")
    PromptConfig = Deferred.of(_HERE, "prompts", "PromptConfig")
    ProviderConfig = Deferred.of(_HERE, "providers", "ProviderConfig")
    ResourceConfig = Deferred.of(_HERE, "resources", "ResourceConfig")
    ResourceTemplateConfig = Deferred.of(_HERE, "resources", "ResourceTemplateConfig")
    ResponseRule = Deferred.of(_HERE, "routes", "ResponseRule")
    ToolsetConfig = Deferred.of(_HERE, "toolsets", "ToolsetConfig")


class Config(Record):
    """A Toolspan config file."""

    schema_: str | None = key("The schema for editors; ignored.", default=None, spellings=["$schema"])
    version: Literal[1] = key("Version of the file format.", default=1)
    name: str = key("The name of the MCP server.", least=1, default="toolspan", served=True)
    instructions: str | None = key(
        "Instructions for clients: what the server is for and how to use it.", default=None, served=True
    )
    request_state_key: str | None = key(
        "The secret that protects the state that clients hold between the rounds of a call; the same in "
        "all replicas.",
        least=32,
        default=None,
        hidden=True,
    )
    state_dir: str = key(
        "The folder for state, relative to this file's folder.", least=1, default=".toolspan"
    )
    handlers: tuple[Annotated[str, Limits(least=1)], ...] = key(
        "Python modules, or .py files beside this one, whose handlers are registered.",
        default=(),
    )
    tools: ToolsConfig = key("The tools and the limits that they share.", factory=ToolsConfig.initial)
    services: ServicesConfig = key(
        "The services that internal handlers use.",
        factory=ServicesConfig.initial,
    )
    resources: tuple[ResourceConfig, ...] = key(
        "Resources that clients may read: literals, files, globs.", default=()
    )
    resource_templates: tuple[ResourceTemplateConfig, ...] = key(
        "Resources with variables in their URIs.", default=()
    )
    skills: str | None = key(
        "The folder of skills, each a folder with a SKILL.md; relative to this file's folder.",
        least=1,
        check=inside,
        default=None,
    )
    prompts: tuple[PromptConfig, ...] = key(
        "Message templates that people select, with arguments.", default=()
    )
    responses: tuple[ResponseRule, ...] = key(
        "Routes: which model answers which questions, with which tools; the first match is used.",
        default=(),
    )
    approvals: ApprovalsConfig | None = key(
        "Which tool calls a person has to allow before the bridge makes them.", default=None
    )
    mcp_servers: dict[str, McpServerConfig] = key(
        "MCP servers whose tools the bridge offers to models, as other MCP clients write them.",
        factory=dict,
        spellings=["mcpServers", "mcp_servers", "servers"],
    )
    providers: dict[Annotated[str, Limits(pattern=PROVIDER_NAME)], ProviderConfig] = key(
        "Model providers besides the known ones, by name; their models are NAME/MODEL.",
        factory=dict,
    )
    toolsets: dict[Annotated[str, Limits(pattern=TOOLSET_NAME)], ToolsetConfig] = key(
        "Subsets of the tools by name, each served at /mcp/NAME, and on stdio with --toolset NAME.",
        factory=dict,
    )
    serving: ServingConfig = key("Settings of serving the config.", factory=ServingConfig.initial)
    auth: AuthConfig | None = key(
        "Authentication over HTTP; when absent, see --token-env.",
        default=None,
    )
    limits: LimitsConfig = key(
        "Limits on requests, results, connections and memory.", factory=LimitsConfig.initial
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
        """The same config, with its origin."""
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
        """The directory of relative paths in the config: the first file's folder."""
        return self._files[0].parent if self._files else Path.cwd()

    @property
    def state_directory(self) -> Path:
        """The directory of state (``.toolspan`` beside the config unless ``state_dir`` is set)."""
        return self.directory / self.state_dir

    @property
    def skipped(self) -> tuple[Problem, ...]:
        """Why tools were left out by ``skip_invalid``: every problem of each."""
        return self._skipped

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The handler modules that were only read: their import and handlers' options are not checked."""
        return () if self._imported else self.handlers

    @property
    def sent(self) -> tuple[SentVariable, ...]:
        """The environment variables whose values can leave the machine, and their destinations."""
        return self._sent

    @property
    def has_secrets(self) -> bool:
        """Whether there are secrets for ``redact`` to remove."""
        return self._secret_pattern is not None

    def redact(self, text: str) -> str:
        """``text`` without the values of variables that are not served texts themselves, also escaped ones.

        Values of less than four characters are kept: they occur in any text by chance. In Base64, those of
        eight bytes and more are found too.
        """
        if self._secret_pattern is None:
            return text
        return self.redact_base64(self._secret_pattern.sub("***", text))

    def redact_base64(self, text: str) -> str:
        """``text``, which is Base64 data, with zeros in place of such values."""
        return self._in_base64(text) if self._in_base64 else text

    @override
    def __repr__(self) -> str:
        return self.redact(super().__repr__())

    @override
    def __str__(self) -> str:
        return self.redact(super().__str__())
