"""What a scenario is asked in: the tools, what a person says to calls, earlier messages, a system prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ...loop import DEFAULT_SYSTEM
from ...messages import Message
from ...provenance.outward import LOCAL
from ...toolbox import Toolbox
from ...toolbox.local import LocalCall
from .answered import Approve

__all__ = ["Setting", "StandIn"]


@dataclass(frozen=True, slots=True)
class StandIn:
    """A tool that gives the same ``result`` to every call."""

    name: str
    description: str
    schema: Mapping[str, Any]
    result: Any

    @property
    def definition(self) -> ListedTool:
        """Its definition, as a server would list it."""
        return ListedTool(self.name, self.description, self.schema, LOCAL)

    async def call(self, call: LocalCall) -> Any:
        """The result, whatever the arguments."""
        del call
        return self.result


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scenario's turns are asked with: the tools of ``toolbox``, in ``max_iterations`` turns of calls
    each, after the messages ``before``. ``approvals`` are a person's answers to calls, by globs. Without
    ``closing`` the model is not asked for words after the last of these turns; without ``checks_arguments``
    calls are made with whatever arguments."""

    toolbox: Toolbox
    max_iterations: int
    before: tuple[Message, ...] = ()
    system: str = DEFAULT_SYSTEM
    approvals: Mapping[str, Approve] = field(default_factory=dict[str, Approve])
    closing: bool = True
    checks_arguments: bool = True
