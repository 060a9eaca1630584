"""A server's wish to have a model asked (MCP, client/sampling)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..messages import Reply, Request, Usage


@dataclass(frozen=True, slots=True)
class Sampling:
    """What ``server`` wants a model to answer within a call of ``tool``.

    ``request`` has no model yet; ``hints`` are the names that the server would like, ``priorities`` what it
    gives which weight (0 to 1): ``cost``, ``speed``, ``intelligence``. ``stops`` are texts at which the
    answer ends. ``params`` are those of the server's request, to be shown to people.
    """

    server: str
    tool: str
    request: Request
    params: Mapping[str, Any]
    hints: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    priorities: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Sampled:
    """The ``reply`` of ``model`` at ``provider``; its calls have the names and arguments of the server's
    tools."""

    reply: Reply
    model: str
    provider: str

    @property
    def usage(self) -> Usage:
        """The tokens of the reply."""
        return self.reply.usage


class Sampler(Protocol):
    """Who asks the model, once it is allowed."""

    async def sample(self, sampling: Sampling) -> Sampled:
        """The model's answer. Raises ``RefusedQuestion`` where there is to be none; the server gets its
        message."""
        ...
