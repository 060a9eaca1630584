"""What the tools of a workspace have in common: their definition, and how they find the workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ....calls.context import Context
from ....schema.records import Record, key

if TYPE_CHECKING:
    from ....engines.workspace import Workspace
    from ....engines.workspace.keeping.notes import Notes
    from ...services._workspaces import Workspaces

SERVICE = "workspaces"


Describe = Callable[["Definition", "Workspaces", str], Awaitable["Definition"]]
"""Completes a definition for the workspace of that name."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as models see it. ``properties`` are those of its parameters, by JSON Schema 2020-12.

    The hints are MCP's: ``read_only`` (a call changes nothing), ``destructive`` (it may overwrite or delete),
    ``idempotent`` (a second equal call changes no more), ``open_world`` (it reaches beyond the workspace).
    ``sequential``: what it does depends on which calls came before, so that none runs beside it.
    ``approval``: a person is asked before each call, unless the config says otherwise; with ``always_asks``
    whatever it says. ``timeout_ms`` is the
    longest time for a call, ``tools.default_timeout_ms`` when absent. ``for_people``: it is for a person's
    commands, and a client that can tell them apart keeps it from models. ``calls_others``: its options name
    the other tools. ``describe`` completes it with what
    depends on the workspace and the machine, which further ``tags`` tell to programs.
    """

    name: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...] = ()
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    sequential: bool = False
    approval: bool = False
    always_asks: bool = False
    timeout_ms: int | None = None
    for_people: bool = False
    tags: tuple[str, ...] = ()
    calls_others: bool = False
    describe: Describe | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, which are these and no others."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


class Options(Record):
    """The ``options`` of every tool of a workspace."""

    workspace: str = key("Name of the workspace in services.workspaces.", least=1)


def references(options: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    """The workspace that ``options`` name, as a reference to the service."""
    yield "workspace", SERVICE, options.get("workspace")


def workspace_of(context: Context, arguments: Mapping[str, Any]) -> Workspace:
    """The workspace of a call with ``arguments``, held to the rules that deny it files.

    Raises ``ToolFailure`` when the config has none of that name.
    """
    workspaces: Workspaces = context.service(SERVICE)
    name = cast("Options", context.options).workspace
    return workspaces.for_call(name, context.tool_name, arguments)


def notes_of(context: Context) -> Notes:
    """What the tools of the call's workspace note for conversations. Raises ``ToolFailure``."""
    workspaces: Workspaces = context.service(SERVICE)
    return workspaces.get(cast("Options", context.options).workspace).notes
