"""The config file: read, validated, frozen.

Of the server's packages this is the main one that the bridge imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..common.secrets.redaction import pattern as secret_pattern
from ..errors import ConfigError
from ..problems import Problem
from ..schema.documents import load_document
from .consent import (
    WHOLE,
    item_lines,
    left_out,
    refusal,
    untrusted_approvals,
    untrusted_code,
    untrusted_entries,
    untrusted_hooks,
    untrusted_paths,
    untrusted_servers,
    untrusted_store,
    withheld_login,
)
from .consent_contents import entry_contents, written_entry
from .loading.load import DEFAULT_FILES, check_text, find_config, load_config
from .models.config import Config
from .models.limits import LimitsConfig
from .models.names import BUILTIN
from .models.profile import (
    PLACEHOLDER,
    PREVIOUS_MESSAGES,
    RAG_CONTEXT,
    USER_MESSAGE,
    profile_text,
)
from .models.sent_variable import UntrustedItem
from .models.tasks import TaskConfig
from .models.tool import ToolConfig
from .models.tools import ToolsConfig
from .overview import contents, counted, is_empty, offer

if TYPE_CHECKING:
    from ..engines.subagent_limits import SubagentLimits
    from ..schema.mcp_server import McpServerConfig
    from .aggregated_config import aggregated
    from .models.asking.activity import ActivityConfig
    from .models.asking.approvals import ApprovalRule
    from .models.asking.conversations import ConversationsConfig
    from .models.asking.hooks import HookConfig
    from .models.asking.own_models import OWN_MODELS, DeploymentConfig, OwnModelConfig
    from .models.asking.validation import ValidationConfig
    from .models.limits import RunLimits
    from .models.providers import ProviderConfig
    from .models.routes import ResponseRule
    from .models.toolsets import ToolsetConfig
    from .workspace_config import WORKSPACE, with_workspace

__all__ = [
    "BUILTIN",
    "DEFAULT_FILES",
    "OWN_MODELS",
    "PLACEHOLDER",
    "PREVIOUS_MESSAGES",
    "RAG_CONTEXT",
    "USER_MESSAGE",
    "WHOLE",
    "WORKSPACE",
    "ActivityConfig",
    "ApprovalRule",
    "Config",
    "ConfigError",
    "ConversationsConfig",
    "DeploymentConfig",
    "HookConfig",
    "LimitsConfig",
    "McpServerConfig",
    "OwnModelConfig",
    "Problem",
    "ProviderConfig",
    "ResponseRule",
    "RunLimits",
    "SubagentLimits",
    "TaskConfig",
    "ToolConfig",
    "ToolsConfig",
    "ToolsetConfig",
    "UntrustedItem",
    "ValidationConfig",
    "aggregated",
    "check_text",
    "contents",
    "counted",
    "entry_contents",
    "find_config",
    "is_empty",
    "item_lines",
    "left_out",
    "load_config",
    "load_document",
    "offer",
    "profile_text",
    "refusal",
    "secret_pattern",
    "untrusted_approvals",
    "untrusted_code",
    "untrusted_entries",
    "untrusted_hooks",
    "untrusted_paths",
    "untrusted_servers",
    "untrusted_store",
    "with_workspace",
    "withheld_login",
    "written_entry",
]

_MODULES = {
    "WORKSPACE": ".workspace_config",
    "ActivityConfig": ".models.asking.activity",
    "ApprovalRule": ".models.asking.approvals",
    "ConversationsConfig": ".models.asking.conversations",
    "DeploymentConfig": ".models.asking.own_models",
    "OWN_MODELS": ".models.asking.own_models",
    "OwnModelConfig": ".models.asking.own_models",
    "McpServerConfig": "..schema.mcp_server",
    "ProviderConfig": ".models.providers",
    "ResponseRule": ".models.routes",
    "HookConfig": ".models.asking.hooks",
    "RunLimits": ".models.limits",
    "SubagentLimits": "..engines.subagent_limits",
    "ToolsetConfig": ".models.toolsets",
    "ValidationConfig": ".models.asking.validation",
    "aggregated": ".aggregated_config",
    "with_workspace": ".workspace_config",
}

if not TYPE_CHECKING:
    from ..common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
