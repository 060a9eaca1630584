"""The config file as data: frozen records, and the source of the published JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from typing_extensions import override

from ...common.secrets.redaction import Redactor
from ...problems import Problem
from ...schema.constraints import Limits
from ...schema.deferred import Deferred
from ...schema.keys import DATA, FILE_INSIDE, PARTS
from ...schema.paths import inside
from ...schema.records import (
    Record,
    key,
)
from .limits import LimitsConfig
from .names import OWN_MODEL_NAME, PROVIDER_NAME, TOOLSET_NAME
from .original import Original, fingerprint
from .profile import ProfileName
from .sent_variable import SentVariable, UntrustedItem
from .services import ServicesConfig
from .serving import ServingConfig
from .tool_options import OR_FLAG
from .tools import ITERATIONS, WORKSPACE_ITERATIONS, ToolsConfig
from .web import WebConfig

if TYPE_CHECKING:
    from ...schema.mcp_server import McpServerConfig
    from .aggregate import AggregateConfig
    from .asking.activity import ActivityConfig
    from .asking.approvals import ApprovalsConfig
    from .asking.client import ClientConfig
    from .asking.conversations import ConversationsConfig
    from .asking.hooks import HookConfig
    from .asking.own_models import OwnModelConfig
    from .asking.validation import ValidationConfig
    from .auth import AuthConfig
    from .prompts import PromptConfig
    from .providers import ProviderConfig
    from .resources import ResourceConfig, ResourceTemplateConfig
    from .routes import ResponseRule
    from .storage import StorageConfig
    from .toolsets import ToolsetConfig
else:
    _HERE, _SCHEMA = __package__, "toolspan_server.schema"
    AggregateConfig = Deferred.of(_HERE, "aggregate", "AggregateConfig")
    ActivityConfig = Deferred.of(_HERE, "asking.activity", "ActivityConfig")
    ApprovalsConfig = Deferred.of(_HERE, "asking.approvals", "ApprovalsConfig")
    AuthConfig = Deferred.of(_HERE, "auth", "AuthConfig")
    ClientConfig = Deferred.of(_HERE, "asking.client", "ClientConfig")
    ConversationsConfig = Deferred.of(_HERE, "asking.conversations", "ConversationsConfig")
    HookConfig = Deferred.of(_HERE, "asking.hooks", "HookConfig")
    McpServerConfig = Deferred.of(_SCHEMA, "mcp_server", "McpServerConfig")
    OwnModelConfig = Deferred.of(_HERE, "asking.own_models", "OwnModelConfig")
    PromptConfig = Deferred.of(_HERE, "prompts", "PromptConfig")
    ProviderConfig = Deferred.of(_HERE, "providers", "ProviderConfig")
    ResourceConfig = Deferred.of(_HERE, "resources", "ResourceConfig")
    ResourceTemplateConfig = Deferred.of(_HERE, "resources", "ResourceTemplateConfig")
    ResponseRule = Deferred.of(_HERE, "routes", "ResponseRule")
    StorageConfig = Deferred.of(_HERE, "storage", "StorageConfig")
    ValidationConfig = Deferred.of(_HERE, "asking.validation", "ValidationConfig")
    ToolsetConfig = Deferred.of(_HERE, "toolsets", "ToolsetConfig")


class Config(Record):
    """A Toolspan config file."""

    schema_: str | None = key(
        "The schema for editors; ignored.", default=None, spellings=["$schema"], inert=DATA
    )
    version: Literal[1] = key("Version of the file format.", default=1, inert=DATA)
    name: str = key("The name of the MCP server.", least=1, default="toolspan", served=True, inert=DATA)
    instructions: str | None = key(
        "Instructions for clients: what the server is for and how to use it.",
        default=None,
        served=True,
        inert=DATA,
    )
    request_state_key: str | None = key(
        "The secret that protects the state that clients hold between the rounds of a call; the same in "
        "all replicas.",
        least=32,
        default=None,
        hidden=True,
    )
    state_dir: str = key(
        "The folder for state, relative to this file's folder. One in there that this user did not make on "
        "this machine is not used.",
        least=1,
        default=".toolspan",
    )
    handlers: tuple[Annotated[str, Limits(least=1)], ...] = key(
        "Python modules, or .py files beside this one, whose handlers are registered.",
        default=(),
    )
    tools: ToolsConfig = key(
        "The tools and the limits that they share.", factory=ToolsConfig.initial, inert=PARTS
    )
    services: ServicesConfig = key(
        "The services that internal handlers use.", factory=ServicesConfig.initial, inert=PARTS
    )
    resources: tuple[ResourceConfig, ...] = key(
        "Resources that clients may read: literals, files, globs.", default=(), inert=PARTS
    )
    resource_templates: tuple[ResourceTemplateConfig, ...] = key(
        "Resources with variables in their URIs.", default=(), inert=PARTS
    )
    skills: str | None = key(
        "The folder of skills, each a folder with a SKILL.md; relative to this file's folder.",
        least=1,
        check=inside,
        default=None,
        inert=FILE_INSIDE,
    )
    prompts: tuple[PromptConfig, ...] = key(
        "Message templates that people select, with arguments.", default=(), inert=PARTS
    )
    responses: tuple[ResponseRule, ...] = key(
        "Routes: which model answers which questions, with which tools; the first match is used.",
        default=(),
        inert=PARTS,
    )
    examples: tuple[Annotated[str, Limits(least=1, most=1_000)], ...] = key(
        "Questions that the page offers to try; when absent, four usual ones.", default=(), inert=DATA
    )
    profile: dict[ProfileName, str | None] = key(
        "Names of the caller's profile that prompts of routes may have, with what holds where the caller has "
        "none; null where the caller must.",
        factory=dict,
        inert=DATA,
    )
    hooks: tuple[HookConfig, ...] = key(
        "What looks at questions and calls of ask and chat, changes and denies them, in this order.",
        default=(),
    )
    approvals: ApprovalsConfig | None = key(
        "Which tool calls a person has to allow before the bridge makes them.", default=None, inert=PARTS
    )
    conversations: ConversationsConfig | None = key(
        "How the conversations of ask and chat are kept; when absent, the defaults.", default=None
    )
    validation: ValidationConfig | None = key(
        "When a model counts as validated, and whether others are used; when absent, the defaults.",
        default=None,
        inert=PARTS,
    )
    activity: ActivityConfig | None = key(
        "What the web API and the gateway keep of what they did; when absent, the defaults.", default=None
    )
    client: ClientConfig | None = key(
        "What MCP servers may ask of the bridge, and how much.", default=None, inert=PARTS
    )
    mcp_servers: dict[str, McpServerConfig] = key(
        "MCP servers whose tools the bridge offers to models, as other MCP clients write them.",
        factory=dict,
        spellings=["mcpServers", "mcp_servers", "servers"],
    )
    aggregate: Annotated[AggregateConfig | None, OR_FLAG] = key(
        "Serves the servers of mcpServers beside the config's own tools, at one endpoint; true: with the "
        "defaults, as serve --aggregate does.",
        default=None,
    )
    providers: dict[Annotated[str, Limits(pattern=PROVIDER_NAME)], ProviderConfig] = key(
        "Model providers besides the known ones, by name; their models are NAME/MODEL.",
        factory=dict,
    )
    models: dict[Annotated[str, Limits(pattern=OWN_MODEL_NAME)], OwnModelConfig] = key(
        "Models of this config's own, asked as models/NAME: deployments at providers, with fallbacks.",
        factory=dict,
    )
    toolsets: dict[Annotated[str, Limits(pattern=TOOLSET_NAME)], ToolsetConfig] = key(
        "Subsets of the tools by name, each served at /mcp/NAME, and on stdio with --toolset NAME.",
        factory=dict,
        inert=PARTS,
    )
    serving: ServingConfig = key(
        "Settings of serving the config.", factory=ServingConfig.initial, inert=PARTS
    )
    web: WebConfig = key(
        "Settings of the page, the API and the gateway.", factory=WebConfig.initial, inert=PARTS
    )
    auth: AuthConfig | None = key(
        "Authentication over HTTP; when absent, see --token-env.",
        default=None,
    )
    storage: StorageConfig | None = key(
        "Where tools keep what they store for a user and a conversation; in state_dir when absent.",
        default=None,
    )
    limits: LimitsConfig = key(
        "Limits on requests, results, connections and memory.", factory=LimitsConfig.initial, inert=PARTS
    )

    _files: tuple[Path, ...] = ()
    _secrets: frozenset[str] = frozenset()
    _redactor: Redactor | None = None
    _skipped: tuple[Problem, ...] = ()
    _imported: bool = True
    _sent: tuple[SentVariable, ...] = ()
    _originals: tuple[Original, ...] = ()
    _withheld: tuple[UntrustedItem, ...] = ()
    _is_restricted: bool = False
    _beside: tuple[Config, ...] = ()
    _left_alone: tuple[Path, ...] = ()

    def with_origin(
        self,
        *,
        files: tuple[Path, ...],
        secrets: frozenset[str],
        skipped: tuple[Problem, ...],
        imported: bool = True,
        sent: tuple[SentVariable, ...] = (),
        originals: tuple[Original, ...] = (),
        withheld: tuple[UntrustedItem, ...] = (),
        is_restricted: bool = False,
    ) -> Self:
        """The same config, with its origin."""
        config = self.model_copy()
        config._files = files
        config._secrets = secrets
        config._redactor = Redactor(secrets)
        config._skipped = skipped
        config._imported = imported
        config._sent = sent
        config._originals = originals
        config._withheld = withheld
        config._is_restricted = is_restricted
        return config

    def serving_beside(self, configs: Sequence[Config], left_alone: Sequence[Path]) -> Self:
        """The same config, for a server beside that of ``configs``: its tools change nothing that those have
        Toolspan obey, nor the paths ``left_alone``."""
        config = self.model_copy()
        config._beside = tuple(configs)
        config._left_alone = tuple(left_alone)
        return config

    @property
    def beside(self) -> tuple[Config, ...]:
        """The configs that are in use beside this one, in other servers of the same program."""
        return self._beside

    @property
    def left_alone(self) -> tuple[Path, ...]:
        """Further files and folders that tools leave alone."""
        return self._left_alone

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that this config was read from; empty for one built in code."""
        return self._files

    @property
    def directory(self) -> Path:
        """The directory of relative paths in the config: the first file's folder."""
        return self._files[0].parent if self._files else Path.cwd()

    @property
    def token_files(self) -> tuple[Path, ...]:
        """The files that hold tokens of clients."""
        tokens = [] if self.auth is None else [*self.auth.tokens]
        for toolset in self.toolsets.values():
            tokens += () if toolset.auth is None else toolset.auth.tokens
        return tuple(self.directory / token.file for token in tokens if token.file is not None)

    @property
    def state_directory(self) -> Path:
        """The directory of state: ``.toolspan`` beside the config unless ``state_dir`` is set, and one in the
        user's state folder where that is not ours. Nothing is made. Raises ``ServeError``."""
        from ...common.state.folder import state_folder

        absolute = Path(self.state_dir).is_absolute()
        return state_folder(self.directory / self.state_dir, self.directory, absolute=absolute)

    def max_iterations(self, *, workspace: bool = False) -> int:
        """In how many turns a model may call tools where no route says so. ``workspace``: there is one beside
        those of the config."""
        if self.tools.max_iterations is not None:
            return self.tools.max_iterations
        works = workspace or bool(self.services.entries("workspaces"))
        return WORKSPACE_ITERATIONS if works else ITERATIONS

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
    def originals(self) -> tuple[Original, ...]:
        """The texts that the config was read from, ``${VAR}`` as it is written there."""
        return self._originals

    @property
    def is_restricted(self) -> bool:
        """Whether only what is inert was taken, as nobody named the config or trusts its folder."""
        return self._is_restricted

    @property
    def withheld(self) -> tuple[UntrustedItem, ...]:
        """What was left out of it then."""
        return self._withheld

    @property
    def fingerprint(self) -> str:
        """A hash of these texts, for ``pinned`` of ``load_config``."""
        return fingerprint(self._originals)

    @property
    def has_secrets(self) -> bool:
        """Whether there are secrets for ``redact`` to remove."""
        return bool(self._redactor)

    def redact(self, text: str) -> str:
        """``text`` without the values of variables that are not served texts themselves, also escaped ones.

        Values of less than four characters are kept: they occur in any text by chance. In Base64, those of
        eight bytes and more are found too.
        """
        return self._redactor(text) if self._redactor else text

    def redact_base64(self, text: str) -> str:
        """``text``, which is Base64 data, with zeros in place of such values."""
        return self._redactor.in_base64(text) if self._redactor else text

    @override
    def __repr__(self) -> str:
        return self.redact(super().__repr__())

    @override
    def __str__(self) -> str:
        return self.redact(super().__str__())
