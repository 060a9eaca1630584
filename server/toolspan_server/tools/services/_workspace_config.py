"""The config of one workspace in ``services.workspaces``."""

from __future__ import annotations

from typing import Annotated

from ...common.obeyed_names import OBEYED
from ...engines.workspace._limits import WorkspaceLimits
from ...schema.constraints import Limits
from ...schema.records import Record, key
from ._bash_config import BashConfig
from ._web_config import Engine, WebFetchConfig

_Protected = Annotated[str, Limits(pattern=r"^[^/]{1,255}(/[^/]{1,255}){0,7}$")]
ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class RootConfig(Record):
    """A folder outside of the workspace that its tools may use as well, by its absolute path."""

    path: str = key("The folder, relative to the config's folder.", least=1)
    writable: bool = key("Whether tools may change what is in it.", default=False)


class WorkspaceConfig(Record):
    """One folder in which tools may work."""

    path: str = key("The folder, relative to the config's folder.", least=1)
    roots: tuple[RootConfig, ...] = key("Further folders that its tools may use.", default=())
    protected: tuple[_Protected, ...] = key(
        "Names of files and folders that tools and commands in a sandbox may read but not change, wherever "
        "they are; packages/cache is one in the other. .* is every name with a dot in front in the "
        "workspace's own folder, but for a list of harmless ones. By default all that other programs obey.",
        default=OBEYED,
    )
    change_config: bool = key(
        "Whether tools may change the config's files, what it has Toolspan run, and the folder of its state.",
        default=False,
    )
    bash: BashConfig = key("How commands run.", factory=BashConfig.initial)
    web_fetch: WebFetchConfig = key("Which pages of the web are read.", factory=WebFetchConfig.initial)
    web_search: Engine | None = key("The engine that WebSearch asks.", default=None)
    limits: WorkspaceLimits = key("Limits of its tools.", factory=WorkspaceLimits.initial)
