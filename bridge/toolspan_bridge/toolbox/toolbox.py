"""The tools of all connected servers, and calling them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import anyio

from toolspan_server.common.did_you_mean import nearest
from toolspan_server.common.supervision import kept
from toolspan_server.engines.upstreams import ListedTool, ServerFailure, ServerSpec

from ..client import ClientFeatures, Elicitor, Sampler
from ..errors import UsageError
from ..messages import Mark, ToolOutcome, ToolSpec
from ..oauth import SignInWay, authorized
from ..principals import LOCAL_USER
from ..trust.invisible_text import invisible_text_notes
from ._connecting import all_ready, telling_of_roots
from ._offered import Accepts, Offered, Reword
from ._ways import USUAL, Guard, Through, Ways
from .connection import ToolConnection
from .contents import Contents
from .local import LOCAL_SERVER, LocalCall, LocalFailure, LocalTool, local_outcome
from .outcomes import UNLISTED_ACTION, failed
from .reports import Report, unreported

if TYPE_CHECKING:
    from toolspan_server.engines.definitions.call_preview import CallPreview

__all__ = ["CONNECT_TIMEOUT_SECONDS", "Guard", "ServerState", "Through", "Toolbox"]

CONNECT_TIMEOUT_SECONDS = 10.0
_FOR_PEOPLE = "for-people"
"""The tag of tools of our own servers that are people's commands, which no model is shown."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server: how many ``tools`` it lists, and why it is not there, if it is not; ``disconnected``: as it
    was asked to be left alone. ``transport`` is ``stdio``, ``http`` or ``sse``; ``last_words`` are the last
    lines that it wrote outside the protocol."""

    name: str
    tools: int
    failure: ServerFailure | None = None
    transport: str = "stdio"
    disconnected: bool = False
    last_words: tuple[str, ...] = ()


class Toolbox:
    """``tools`` of every connected server, sorted by server and name, as they are listed now; ``failures`` of
    the others; ``warnings`` about tools that were left out of the lists, and about text in them that is
    hidden from people. ``local`` tools, which the bridge performs itself, are among ``tools``. ``ways`` say
    which tools are, and how their calls are made.
    """

    def __init__(
        self,
        connections: Iterable[ToolConnection],
        local: Iterable[LocalTool] = (),
        ways: Ways = USUAL,
    ) -> None:
        self._connections = {connection.spec.name: connection for connection in connections}
        accepts = ways.accepts
        performed = [tool for tool in local if accepts is None or accepts(LOCAL_SERVER, tool.definition)]
        self._local = {tool.definition.name: tool for tool in performed}
        self._ways = ways
        self._offered = Offered(self._connections.values(), self._local, accepts, ways.last, ways.reword)
        self._chosen: tuple[ToolSpec, ...] | None = None

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is to be known of the lists as they were first, each in a sentence."""
        known = self._connections.values()
        left_out = tuple(f"server {c.spec.name!r}: {warning}" for c in known for warning in c.warnings)
        return left_out + tuple(invisible_text_notes(self.tools))

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools as their servers list them now; those that were set, once some were."""
        return self._offered.tools if self._chosen is None else self._chosen

    @tools.setter
    def tools(self, tools: Iterable[ToolSpec]) -> None:
        self._chosen = tuple(tools)

    @property
    def failures(self) -> tuple[ServerFailure, ...]:
        """The servers that did not answer when they were connected, or were started again."""
        return tuple(c.failure for c in self._connections.values() if c.failure is not None)

    @property
    def servers(self) -> tuple[ServerState, ...]:
        """Every server, as it is now."""
        return tuple(
            ServerState(
                name,
                0 if connection.lost else len(connection.tools),
                connection.lost,
                connection.spec.kind,
                connection.is_left,
                connection.last_words,
            )
            for name, connection in self._connections.items()
        )

    def state(self, server: str) -> ServerState:
        """How ``server`` is now. Raises ``UsageError`` when there is no such server."""
        self._connection(server)
        return next(state for state in self.servers if state.name == server)

    async def restart(self, server: str) -> ServerFailure | None:
        """End ``server`` and connect it again; why it does not answer, if it does not. Its tools are listed
        anew, in every toolbox that has it. Raises ``UsageError`` when there is no such server."""
        return await self._connection(server).restart()

    async def disconnect(self, server: str) -> None:
        """End ``server``, and leave it alone until it is started again. Raises as ``restart``."""
        await self._connection(server).leave()

    async def sign_in(self, server: str, way: SignInWay) -> ServerFailure | None:
        """Sign in to ``server`` in ``way``, and connect it anew; why it does not answer, if it does not.
        Raises ``AuthError`` and ``UnreachableError``, and ``UsageError`` for one that is not signed in to."""
        from ..oauth.login import login
        from ..oauth.store import SignInStore

        connection = self._connection(server)
        plain = replace(connection.spec, authorization=None)
        if authorized(plain, way).authorization is None:
            raise UsageError(
                f"the server {server!r} is not signed in to by OAuth: it is a process, or its key is in the "
                "config"
            )
        await login(plain, way, SignInStore(), connection.spec.connect_timeout or CONNECT_TIMEOUT_SECONDS)
        connection.spec = authorized(plain, SignInWay())
        return await connection.restart()

    def _connection(self, server: str) -> ToolConnection:
        connection = self._connections.get(server)
        if connection is None:
            raise UsageError(f"there is no server {server!r} ({nearest(server, self._connections)})")
        return connection

    @property
    def contents(self) -> Contents:
        """The resources and prompts of the servers."""
        return Contents(self._connections, self._ways.principal)

    def take_news(self) -> list[str]:
        """What servers told outside of calls since the last time, in sentences: tools and resources that have
        changed."""
        return [text for connection in self._connections.values() for text in connection.news.take()]

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        servers: Iterable[ServerSpec],
        *,
        principal: str | None = LOCAL_USER,
        connect_timeout: float | None = None,
        client: ClientFeatures | None = None,
        sign_in: SignInWay | None = None,
        on_ready: Callable[[str], None] | None = None,
    ) -> AsyncGenerator[Toolbox]:
        """Connect all ``servers`` concurrently; they end with the block. A failing server raises no
        exception: ``failures`` has one that has not answered within ``connect_timeout`` seconds; without
        that, within those of its ``ServerSpec``, or 10. ``client`` is what the servers may ask for; without
        it, nothing. ``sign_in``: how to sign in to remote ones, by default as somebody did before, and nobody
        is asked. ``on_ready`` is called with each server's name once it has answered or failed. Calls are
        made for ``principal``, by default the person at this machine; for nobody (``None``) where each use of
        the toolbox takes one that is ``acting_for`` somebody.
        """
        features, way = client or ClientFeatures(), sign_in or SignInWay()
        connections = [
            ToolConnection(
                authorized(spec, way),
                connect_timeout or spec.connect_timeout or CONNECT_TIMEOUT_SECONDS,
                features,
            )
            for spec in servers
        ]
        fault: Exception | None = None
        async with anyio.create_task_group() as tasks:
            for connection in connections:
                tasks.start_soon(kept("a connection to a server", connection.run_and_revive))
            unwatched = telling_of_roots(features, connections, tasks)
            try:
                await all_ready(connections, on_ready)
                yield cls(connections, ways=Ways(principal=principal))
            except Exception as error:
                # carried past the task group, which would wrap it in an ExceptionGroup
                fault = error
            finally:
                unwatched()
                for connection in connections:
                    connection.stop()
        if fault is not None:
            raise fault

    def with_local(self, tools: Iterable[LocalTool]) -> Toolbox:
        """The same connections, with ``tools`` beside the local ones that there are already."""
        return Toolbox(self._connections.values(), (*self._local.values(), *tools), self._ways)

    def acting_for(self, principal: str) -> Toolbox:
        """The same, whose calls are made for ``principal``."""
        return self._by(replace(self._ways, principal=principal))

    @property
    def principal(self) -> str | None:
        """Whom calls are made for."""
        return self._ways.principal

    def accepting(self, accepts: Accepts) -> Toolbox:
        """The same, without the tools that ``accepts`` says no to."""
        before = self._ways.accepts

        def both(server: str, tool: ListedTool) -> bool:
            return accepts(server, tool) and (before is None or before(server, tool))

        return self._by(replace(self._ways, accepts=both))

    def with_last(self, names: Collection[str]) -> Toolbox:
        """The same, with the tools of these ``names`` after all others, where they stand in requests."""
        return self._by(replace(self._ways, last=names))

    def reworded(self, reword: Reword) -> Toolbox:
        """The same, with each tool as ``reword`` has it, for models; calls are checked by its definition."""
        return self._by(replace(self._ways, reword=reword))

    def guarded(self, guard: Guard) -> Toolbox:
        """The same, with ``guard`` asked before each call."""
        return self._by(replace(self._ways, guard=guard))

    def called_through(self, through: Through) -> Toolbox:
        """The same, with every call that may be made going ``through``."""
        return self._by(replace(self._ways, through=through))

    def standing_in(self, stand_ins: Mapping[tuple[str, str], LocalTool]) -> Toolbox:
        """The same, with calls of the tools in ``stand_ins``, by server and name, performed by these: no
        server hears of them. What is listed stays."""
        return self._by(replace(self._ways, stand_ins={**self._ways.stand_ins, **stand_ins}))

    def answering(self, elicitor: Elicitor | None = None, sampler: Sampler | None = None) -> Toolbox:
        """The same, with ``elicitor`` and ``sampler``, where given, to answer what servers ask in calls, as
        far as they were told that somebody does."""
        ways = self._ways
        return self._by(replace(ways, elicitor=elicitor or ways.elicitor, sampler=sampler or ways.sampler))

    def _by(self, ways: Ways) -> Toolbox:
        return Toolbox(self._connections.values(), self._local.values(), ways)

    def for_models(self) -> Toolbox:
        """The same, without the tools of our own servers that are people's commands."""
        return self.accepting(lambda server, tool: not (self.is_own(server) and _FOR_PEOPLE in tool.tags))

    @property
    def own_tools(self) -> tuple[ListedTool, ...]:
        """The tools of our own servers, as they list them."""
        return self._offered.own

    def is_own(self, server: str) -> bool:
        """Whether the server of that name is one of our own."""
        connection = self._connections.get(server)
        return connection is not None and connection.spec.own

    def has_own_words(self, server: str) -> bool:
        """Whether what the server of that name says is trusted: it is one of our own, and not of a config
        that nobody trusts."""
        return self.is_own(server) and not self._connections[server].spec.restricted

    @property
    def foreign_words(self) -> tuple[Mark, ...]:
        """The marks of what models are told of our own servers from a config that nobody trusts."""
        found = (name for name, each in self._connections.items() if each.spec.own and each.spec.restricted)
        return tuple(Mark("foreign", f"the config of {name!r}, which nobody trusts", name) for name in found)

    def is_trusted(self, spec: ToolSpec) -> bool:
        """Whether the definition of ``spec`` is our own word: of a server of ours, or of what is performed
        here."""
        return self._performed_here(spec) is not None or self.is_own(spec.server)

    def has_stand_in(self, spec: ToolSpec) -> bool:
        """Whether calls of ``spec`` are performed here in place of its server."""
        return spec.key in self._ways.stand_ins

    def refusal(self, spec: ToolSpec) -> LocalFailure | None:
        """Why ``spec`` may not be called now; ``None`` when it may, as what is performed here always."""
        guard = self._ways.guard
        if guard is None or self._performed_here(spec) is not None:
            return None
        return guard(spec.server, self.definition(spec))

    def joined(self, other: Toolbox) -> Toolbox:
        """This toolbox with all tools of the servers of ``other``, none of which has the name of one here."""
        accepts = self._ways.accepts

        def all_of_other(server: str, tool: ListedTool) -> bool:
            return server in other._connections or accepts is None or accepts(server, tool)

        connections = (*self._connections.values(), *other._connections.values())
        ways = replace(self._ways, accepts=all_of_other, guard=None, last=())
        return Toolbox(connections, self._local.values(), ways)

    def definition(self, spec: ToolSpec) -> ListedTool:
        """The definition of ``spec`` as its server lists it now, which the conversation's may differ from.

        A tool that is no longer listed is described by ``spec`` alone.
        """
        found = self._offered.definition(spec.key)
        return found or ListedTool(spec.name, spec.description, spec.schema)

    def lists(self, spec: ToolSpec) -> bool:
        """Whether the server of ``spec`` lists it now, also where it is no tool of this toolbox."""
        return self._offered.definition(spec.key) is not None

    def address(self, server: str) -> str:
        """The command line or URL of the server of that name; empty of one that is not known."""
        connection = self._connections.get(server)
        return "" if connection is None else connection.spec.address

    def configured(self, server: str) -> str:
        """All that its entry says of the server of that name, variables and headers too: it may hold
        secrets. Empty of one that is not known."""
        connection = self._connections.get(server)
        return "" if connection is None else connection.spec.written

    async def preview(
        self, spec: ToolSpec, arguments: Mapping[str, Any], conversation: str = ""
    ) -> tuple[CallPreview, str | None]:
        """What a person is shown of a call before they allow it, and its digest.

        A server of our own is asked how it would run the call. Of any other nothing is believed: all
        arguments are shown, and there is no digest.
        """
        connection = self._connections.get(spec.server)
        if connection is None or not connection.spec.own or self._performed_here(spec) is not None:
            from toolspan_server.engines.definitions.call_preview import plain_preview, preview_beside

            return await preview_beside(plain_preview, arguments), None
        return await connection.preview(spec.name, arguments, self._ways.principal, conversation)

    async def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        call_id: str,
        conversation: str = "",
        *,
        approved: bool = False,
        shown: str | None = None,
        report: Report = unreported,
        marks: list[Mark] | None = None,
    ) -> ToolOutcome:
        """Call a tool. Never raises for errors of a tool, a server or a model; cancelling cancels the call
        there. ``call_id`` comes back in the outcome, which is the one result of that call of a model.
        ``conversation`` is the id of the conversation that the call belongs to, which our own servers keep
        state for. ``approved``: this very call was allowed, so that our own server need not have it allowed
        again; ``shown`` is the digest of the preview that a person saw then: our own server refuses the call
        where it would do something else. ``report`` takes what happens meanwhile. ``marks`` are those of the
        conversation, to which a tool that is performed here adds what it brings.
        """
        if fault := _unsendable(arguments):
            action = "Send plain JSON: finite numbers and valid Unicode text."
            return failed(call_id, spec.name, f"Invalid parameters: {fault}", "invalid_parameters", action)
        if (refused := self.refusal(spec)) is not None:
            return failed(call_id, spec.name, str(refused), refused.code, refused.user_action)
        local = LocalCall(call_id, arguments, conversation, report, [] if marks is None else marks)
        make = partial(self._made, spec, local, approved, shown)
        through = self._ways.through
        return await (make() if through is None else through(spec, arguments, call_id, make))

    async def _made(self, spec: ToolSpec, call: LocalCall, approved: bool, shown: str | None) -> ToolOutcome:
        if (local := self._performed_here(spec)) is not None:
            return await local_outcome(local, call)
        connection = self._connections.get(spec.server)
        if connection is None:
            missing = f"Tool '{spec.name}' not found"
            return failed(call.id, spec.name, missing, "tool_not_found", UNLISTED_ACTION)
        if spec.name in connection.removed:
            gone = f"Tool '{spec.name}' is no longer offered by the server {spec.server!r}"
            return failed(call.id, spec.name, gone, "tool_not_found", UNLISTED_ACTION)
        return await connection.outcome(
            spec.name,
            call.arguments,
            call.id,
            call.conversation,
            principal=self._ways.principal,
            approved=approved,
            shown=shown,
            report=call.report,
            elicitor=self._ways.elicitor,
            sampler=self._ways.sampler,
        )

    def _performed_here(self, spec: ToolSpec) -> LocalTool | None:
        own = self._local.get(spec.name) if spec.server == LOCAL_SERVER else None
        return self._ways.stand_ins.get(spec.key) or own


def _unsendable(arguments: Mapping[str, Any]) -> str:
    try:
        json.dumps(dict(arguments), allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "a text holds a lone surrogate, which is no Unicode character"
    except (ValueError, TypeError, RecursionError) as error:
        return f"the arguments cannot be written as JSON ({error})"
    return ""
