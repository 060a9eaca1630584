"""A session: a config's connected servers, for every verb that needs tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from toolspan_server.config import Config, UntrustedItem, left_out, refusal
from toolspan_server.engines.upstreams import ServerSpec

from ..client import LogLevel
from ..errors import AuthError, BridgeError, ConsentError, UnreachableError, UsageError
from ..formats.names import NameTable
from ..messages import ToolSpec
from ..oauth import SignInWay
from ..toolbox import McpJson, Toolbox, foreign_servers, servers_of
from ..trust import Baseline, Shadows
from .chosen.config import ConfigChoice, found_config, has_servers, may_offer_tools
from .chosen.target import CONNECT_SECONDS, server_of, servers_of_texts
from .chosen.tool_globs import ALL_TOOLS
from .client import SessionClient
from .host import Host
from .imports import import_meanwhile
from .locking import held, locked_definitions
from .no_tools import why_no_tools

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Session:
    """A config, the toolbox of its servers, the ``baseline`` that the tools' definitions are held to, what
    the servers may ask for (``client``), the ``host`` that it all runs in, and, where there are no tools,
    the error that says why (``no_tools``); and what is ``withheld`` of the folder, which nobody trusts."""

    config: Config
    toolbox: Toolbox
    choice: ConfigChoice
    baseline: Baseline
    client: SessionClient
    host: Host
    no_tools: BridgeError | None = None
    withheld: tuple[UntrustedItem, ...] = ()

    def acting_for(self, principal: str) -> Session:
        """The same, whose calls are made for ``principal``."""
        return replace(self, toolbox=self.toolbox.acting_for(principal))

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools, for what cannot be done without one. Raises ``no_tools``."""
        if self.no_tools is not None:
            raise self.no_tools
        return self.toolbox.tools

    def note_no_tools(self) -> None:
        """Tell the host why there are no tools, if there are none: for what can be done without them."""
        if self.no_tools is not None:
            self.host.note(f"there are no tools: {self.no_tools.message}")

    def tool(self, name: str) -> ToolSpec:
        """The tool ``name``, as its server calls it, ``server/name`` where several servers have one, or by
        its name on the wire. Raises ``UsageError``, ``ConsentError`` where it may be withheld, and
        ``no_tools``.
        """
        tools = self.tools()
        server, _, bare = name.rpartition("/")
        found = [tool for tool in tools if tool.name == name or tool.key == (server, bare)]
        if not found and (on_wire := NameTable.of(tools).tool(name)):
            return on_wire
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(f"{tool.server}/{tool.name}" for tool in found)
            raise UsageError(f"several servers have a tool {name!r}: write one of {choices}")
        if may_offer_tools(self.withheld):
            own = [item for item in self.withheld if f"the tool {bare!r} (" in item.what]
            raise ConsentError(f"No tool {name!r} is used here: {refusal(own or self.withheld)}")
        raise UsageError(f"Tool {name!r} not found ({_known(tools)})")


@asynccontextmanager
async def opened(
    choice: ConfigChoice,
    host: Host,
    *,
    server: str | None = None,
    locks: bool = True,
    samples: bool = False,
    log_level: LogLevel | None = None,
    meanwhile: Sequence[str] = (),
) -> AsyncGenerator[Session]:
    """Connect the servers of the config that the options name, or the one ``server`` alone (a command or a
    URL); tell ``host`` which did not answer. ``samples``: they may have the model of the session's client
    asked. ``log_level`` is the least of the log messages that they are to send. The modules ``meanwhile``,
    which the caller needs next, are imported while they start.

    Tools that differ from the locked ones are told too, and left out with ``choice.locked``. Without
    ``locks`` the lock file is not read.

    Raises ``ConfigError``, ``UsageError``, ``ConsentError`` when nothing remains that a person allowed,
    ``AuthError`` when no server lets anybody in who has not signed in, and ``UnreachableError`` when none
    answered.
    """
    withheld: tuple[UntrustedItem, ...] = ()
    if server is not None:
        config, servers, patience = Config(), [server_of(server)], CONNECT_SECONDS
    else:
        (config, servers, withheld), patience = _servers(choice, host), None
    alone = server or next(iter(() if choice.is_named else choice.servers), None)
    locked = locked_definitions(choice, config, server=alone) if locks else None
    client = SessionClient(config, host, choice.workspace, samples=samples, log_level=log_level)
    way = SignInWay(host.sign_in())
    import_meanwhile(meanwhile)
    with wires(choice, config, servers, host), host.servers_starting(spec.name for spec in servers) as ready:
        connecting = Toolbox.connect(
            servers,
            principal=host.principal,
            connect_timeout=patience,
            client=client.features,
            sign_in=way,
            on_ready=ready,
        )
        async with connecting as connected:
            toolbox, baseline = held(connected, locked, host, strict=choice.locked)
            idle = choice.tools.idle(toolbox.tools)
            if choice.tools != ALL_TOOLS:
                toolbox = toolbox.accepting(choice.tools.among(connected.tools))
            names = [tool.name for tool in connected.tools]
            notes = (*toolbox.warnings, *Shadows(toolbox.tools).notes(), *_unknown(config, names), *idle)
            for text in (*map(str, toolbox.failures), *notes):
                host.note(text)
            if servers and len(toolbox.failures) == len(servers):
                if any(failure.needs_sign_in for failure in toolbox.failures):
                    raise AuthError("no MCP server could be used without a sign-in; the errors are above")
                raise UnreachableError("no MCP server could be reached; the errors are above")
            no_tools = None if toolbox.tools else why_no_tools(config, choice, servers, connected)
            yield Session(config, toolbox, choice, baseline, client, host, no_tools, withheld)


def wires(
    choice: ConfigChoice, config: Config, servers: Sequence[ServerSpec], host: Host
) -> AbstractContextManager[None]:
    """What goes over the wires in the block is shown by ``host`` where ``choice`` says so."""
    if not choice.debug:
        return nullcontext()
    return host.wires_shown(config, servers, choice.paths)


def _servers(choice: ConfigChoice, host: Host) -> tuple[Config, list[ServerSpec], tuple[UntrustedItem, ...]]:
    """The config, its servers, and what was left out of both. Raises ``ConsentError`` where none remain."""
    alone = bool(choice.servers) and not choice.is_named
    beside = None if alone or choice.is_named else McpJson.read(Path.cwd())
    foreign = foreign_servers(beside) if beside is not None else ()
    config = (
        choice.with_store(Config()) if alone else found_config(choice, host, needed=False, beside=foreign)
    )
    withheld = config.withheld
    if has_servers(config):
        beside = None
    elif not choice.may_run and not choice.is_trusted(foreign, host, ask=False):
        withheld, beside = (*withheld, *foreign), None
    servers = servers_of(
        config,
        skip_invalid=choice.skip_invalid,
        workspace=choice.workspace,
        beside=beside,
        pinned=not choice.is_named,
        further=servers_of_texts(choice.servers),
    )
    servers += servers_of_texts(choice.servers, [spec.name for spec in servers])
    if not servers and may_offer_tools(withheld):
        raise ConsentError(refusal(withheld))
    if withheld:
        host.note(left_out(withheld))
    return config, servers, withheld


def _unknown(config: Config, names: Sequence[str]) -> Iterable[str]:
    """The notes about tools that routes of ``config`` name and no server has."""
    if not config.responses:
        return ()
    from ..routes import unknown_tools

    return unknown_tools(config, names)


def _known(tools: tuple[ToolSpec, ...]) -> str:
    counted = Counter(tool.name for tool in tools)
    shown = [t.name if counted[t.name] == 1 else f"{t.server}/{t.name}" for t in tools[:_SHOWN]]
    more = f" and {len(tools) - _SHOWN} more: `toolspan tools list`" if len(tools) > _SHOWN else ""
    return f"known: {', '.join(shown)}{more}"
