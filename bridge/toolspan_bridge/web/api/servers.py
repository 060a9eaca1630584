"""``/api/servers``: the MCP servers of the config, what they have, and connecting, leaving and signing in.

No endpoint takes a command, a URL or a config: what is connected is what the config names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ...principals import is_operator
from ...toolbox.toolbox import ServerState
from ..endpoint import Answer, Call, Endpoint, Values
from ..problems import Problem
from ..servers.described import (
    ServerFacts,
    ServerInfo,
    error_of,
    server_facts,
    server_info,
    server_named,
    state_word,
)
from ..servers.signing_in import SignIns

if TYPE_CHECKING:
    from ...sessions.session import Session

_TAG = "servers"


class ServerList(Answer):
    """Every server, in the config's order."""

    servers: list[ServerInfo]


class ResourceAsked(Values):
    """Which resource is wanted."""

    uri: str = Field(min_length=1, max_length=8_000)


class ResourceContents(Answer):
    """The contents: ``{"uri", "mimeType", "text"}``, or ``"blob"`` in base64."""

    contents: list[dict[str, Any]]


class PromptAsked(Values):
    """Which prompt is wanted, with its arguments."""

    name: str = Field(min_length=1, max_length=1_000)
    arguments: dict[str, str] = Field(default_factory=dict, max_length=100)


class PromptMessages(Answer):
    """The messages: ``{"role", "content"}``."""

    messages: list[dict[str, Any]]


class Authorization(Answer):
    """Where the person signs in."""

    authorization_url: str


class Connected(Answer):
    """How a server stands now."""

    name: str
    state: Literal["connected", "failed", "needs_sign_in", "disconnected"]
    error: str | None


async def listed(call: Call) -> ServerList:
    """Every server."""
    async with call.app.using(call.principal) as served:
        states = served.session.toolbox.servers
        return ServerList(servers=[await server_info(served.session, state) for state in states])


async def shown(call: Call) -> ServerFacts:
    """One server with all that it has."""
    async with call.app.using(call.principal) as served:
        state = server_named(served.session, call.path["name"])
        return await server_facts(served.session, state, logs=is_operator(call.principal))


async def connect(call: Call) -> Connected:
    """Connect a server, or start it again."""
    async with call.app.using(call.principal) as served:
        name = server_named(served.session, call.path["name"]).name
        await served.session.toolbox.restart(name)
        return _told(call, served.session.toolbox.state(name))


async def disconnect(call: Call) -> Connected:
    """End a server's connection."""
    async with call.app.using(call.principal) as served:
        name = server_named(served.session, call.path["name"]).name
        await served.session.toolbox.disconnect(name)
        return _told(call, served.session.toolbox.state(name))


async def sign_in(call: Call) -> Authorization:
    """Begin a sign-in."""
    name = server_named(call.app.live.current.session, call.path["name"]).name
    return Authorization(authorization_url=await call.app.of(SignIns).begin(name, call.principal))


async def read(call: Call) -> ResourceContents:
    """The contents of a resource."""
    async with call.app.using(call.principal) as served:
        name = _there(served.session, call.path["name"])
        contents = await served.session.toolbox.contents.read(name, call.asked(ResourceAsked).uri)
    return ResourceContents(contents=contents)


async def prompt(call: Call) -> PromptMessages:
    """The messages of a prompt."""
    wanted = call.values(PromptAsked)
    async with call.app.using(call.principal) as served:
        name = _there(served.session, call.path["name"])
        messages = await served.session.toolbox.contents.prompt(name, wanted.name, wanted.arguments)
    return PromptMessages(messages=messages)


def _there(session: Session, name: str) -> str:
    """The name of a server that was not disconnected here. Raises ``Problem``."""
    state = server_named(session, name)
    if state.disconnected:
        raise Problem(409, f"the server {name!r} is disconnected: connect it again", "disconnected")
    return state.name


def _told(call: Call, state: ServerState) -> Connected:
    found = Connected(name=state.name, state=state_word(state), error=error_of(state))
    call.app.events.tell("server_changed", found.model_dump())
    return found


_ONE = "/api/servers/{name}"
ENDPOINTS = (
    Endpoint(
        "GET", "/api/servers", "List the MCP servers.", listed, _TAG, audience="shared", answer=ServerList
    ),
    Endpoint(
        "GET",
        _ONE,
        "Show a server with its tools, resources, prompts and last words.",
        shown,
        _TAG,
        audience="shared",
        answer=ServerFacts,
        problems=(404,),
    ),
    Endpoint(
        "POST",
        f"{_ONE}/connect",
        "Connect a server, or start it again.",
        connect,
        _TAG,
        audience="operator",
        description="The state says whether it answered; a server that did not is no problem.",
        answer=Connected,
        problems=(404,),
        starts=True,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/disconnect",
        "End a server's connection until it is connected again.",
        disconnect,
        _TAG,
        audience="operator",
        answer=Connected,
        problems=(404,),
        starts=True,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/sign-in",
        "Begin a sign-in to a server by OAuth.",
        sign_in,
        _TAG,
        audience="operator",
        description="Open authorization_url in a browser on the machine of this app within five minutes; the "
        "server is connected once the browser comes back, which the event server_changed tells.",
        answer=Authorization,
        problems=(404, 409, 502),
        starts=True,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/resources/read",
        "Read a resource of a server.",
        read,
        _TAG,
        audience="own",
        query=ResourceAsked,
        answer=ResourceContents,
        problems=(404, 409, 502),
    ),
    Endpoint(
        "POST",
        f"{_ONE}/prompts/get",
        "Get the messages of a prompt of a server.",
        prompt,
        _TAG,
        audience="own",
        body=PromptAsked,
        answer=PromptMessages,
        problems=(404, 409, 502),
    ),
)
