"""A request to allow one tool call, its answer, and the interface of what answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from toolspan_server.engines.upstreams import ListedTool

from .mentions import run_judging

if TYPE_CHECKING:
    from toolspan_server.engines.definitions.call_preview import CallPreview

Decider = Literal["policy", "flag", "rule", "earlier", "person", "hook", "lock"]
"""What decided about a call: the policy, a flag of the command line, a rule, an earlier answer of the person,
the person now, a hook, or that the tool's definition is not the one that was locked."""


Previewer = Callable[[Mapping[str, Any]], Awaitable[tuple["CallPreview", str | None]]]
"""Gives what a person is shown of a call with these arguments, made by what would run it, and its digest."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One call that needs approval. ``tool`` is its definition as ``server`` lists it now; ``arguments`` fit
    its schema. ``call_id`` is the id of the model's call, and ``reason`` says why it needs approval;
    ``facts`` are sentences that a person is shown first: of a call that would carry data outward after a
    secret or content from outside was read, where to, and after what. They name the first of many;
    ``facts_digest`` tells apart all that they are about. ``stated``: what the user typed asks for this call,
    with every value of it. ``is_own``: the server is our own,
    known by how it was started, never by what it says.

    ``previewer`` asks what would run the call; ``preview`` and ``shown``, its digest, are there once
    ``previewed`` has asked it.
    """

    call_id: str
    server: str
    tool: ListedTool
    arguments: Mapping[str, Any]
    reason: str = ""
    facts: tuple[str, ...] = ()
    facts_digest: str = ""
    stated: bool = False
    is_own: bool = False
    previewer: Previewer | None = None
    preview: CallPreview | None = None
    shown: str | None = None

    async def previewed(self) -> ApprovalRequest:
        """The same, with the ``preview`` of the call with its ``arguments`` as they are now: to be shown to
        the person before they decide."""
        if self.previewer is None:
            from toolspan_server.engines.definitions.call_preview import plain_preview, preview_beside

            preview = await preview_beside(plain_preview, self.arguments)
            return replace(self, preview=preview, shown=None)
        preview, digest = await self.previewer(self.arguments)
        return replace(self, preview=preview, shown=digest)


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer to an ``ApprovalRequest``. ``reason`` tells the model why a call was denied.

    ``arguments`` are those to call with where the person changed them, else ``None``. ``scope`` says how far
    the answer holds: for this call, for the conversation, for every call of the tool, or for a pattern.
    ``shown`` is that of the request which the person saw: the call is refused where it would do something
    else by then.
    """

    allowed: bool
    decider: Decider
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    scope: Literal["once", "conversation", "tool", "pattern"] = "once"
    shown: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """``{"allowed", "decider", "scope"}``, and ``"reason"`` and ``"arguments"`` where there are any."""
        data: dict[str, Any] = {"allowed": self.allowed, "decider": self.decider, "scope": self.scope}
        data |= {"reason": self.reason} if self.reason else {}
        return data | ({} if self.arguments is None else {"arguments": dict(self.arguments)})


class Approver(Protocol):
    """What decides about tool calls before they are made."""

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """Why the call needs approval, in words for people; empty when it needs none. It waits for nothing;
        where the arguments are long it is asked in another thread."""
        ...

    async def decide(self, request: ApprovalRequest) -> Approval:
        """The answer. Requests of one turn come one after the other. May wait for a person; cancelling it
        counts as a denial: the call is not made."""
        ...


async def find_reason(approver: Approver, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
    """Why the call needs approval, as ``approver`` says; long arguments are judged off the event loop."""
    return await run_judging(arguments, partial(approver.reason_to_ask, server, tool, arguments))
