"""Who calls a tool: the user and the conversation that state is kept for."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, Self, cast

from ..errors import InvalidParameters

CONVERSATION_KEY = "dev.toolspan/conversation"
"""The key of a request's ``_meta`` that names the conversation which a call belongs to."""

CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
"""The key of a request's ``_meta`` with the client's name and version (MCP 2026-07-28)."""
_LONGEST_CLIENT = 100

LOCAL_USER = "local"
DEFAULT_CONVERSATION = "default"
LONGEST_CONVERSATION = 200


class Caller(NamedTuple):
    """The user and the conversation of a call, as their names are given: any text.

    State of one is never shown to another. A store that makes file names of them encodes them first.
    """

    user: str
    conversation: str


class Origin(NamedTuple):
    """Where a request comes from: the ``principal`` of its token, and its HTTP ``session``, if it has one."""

    principal: str | None = None
    session: str | None = None

    @classmethod
    def of(cls, principal: bytes | None, session: bytes | None) -> Self:
        """The origin of a request whose token and header ``Mcp-Session-Id`` say so, as bytes."""
        return cls(_text(principal), _text(session))


class HasMeta(Protocol):
    """Has the ``_meta`` of a request: the context of a call."""

    @property
    def meta(self) -> Mapping[str, Any]: ...


_NOWHERE = Origin()
_origin: ContextVar[Origin] = ContextVar("toolspan_origin", default=_NOWHERE)

_client: ContextVar[str] = ContextVar("toolspan_client", default="")


def note_client(info: Any) -> None:
    """Let calls of the current task, and of tasks that it begins, come from the client that ``info``
    describes: its ``clientInfo``, from the handshake of its connection."""
    _client.set(_named(info))


def client_of(meta: Mapping[str, Any]) -> str:
    """The name and version of the client of a request with ``meta``, as it gives them there, else as
    ``note_client`` has them; empty when they are not known. At most 100 characters."""
    info = meta.get(CLIENT_INFO_KEY)
    return _client.get() if info is None else _named(info)


def note_origin(origin: Origin) -> None:
    """Let calls of the current task, and of tasks and threads that it begins, come from ``origin``.

    The transport says so, once for each request: each runs in a context of its own.
    """
    _origin.set(origin)


_bearer: ContextVar[str] = ContextVar("toolspan_bearer", default="")


def note_bearer(authorization: bytes | None) -> None:
    """Let calls of the current task come with the bearer token of this header, which the guard let pass."""
    scheme, _, token = (authorization or b"").partition(b" ")
    _bearer.set(token.strip().decode("ascii", "replace") if scheme.lower() == b"bearer" else "")


def bearer_of_call() -> str:
    """The token that the request of the current task came with. It is the client's secret: it is exchanged,
    and goes to nobody else."""
    return _bearer.get()


def principal_of_call() -> str:
    """The principal of the request that the current task serves; empty where no token was asked for."""
    return _origin.get().principal or ""


def caller_of(context: HasMeta) -> Caller:
    """The user and the conversation of the call with ``context``.

    The user is the principal of the request, ``local`` where no token is asked for. The conversation is what
    ``_meta["dev.toolspan/conversation"]`` names, else the HTTP session (MCP up to 2025-11-25), else
    ``default``: all that comes over stdio, or over HTTP without a session, is then one conversation.

    Raises ``InvalidParameters`` when the name is not a text of 1 to 200 characters.
    """
    origin = _origin.get()
    user = LOCAL_USER if origin.principal is None else origin.principal
    named = context.meta.get(CONVERSATION_KEY)
    if named is None:
        return Caller(user, DEFAULT_CONVERSATION if origin.session is None else _of_session(origin.session))
    if not isinstance(named, str) or not 1 <= len(named) <= LONGEST_CONVERSATION:
        raise InvalidParameters(
            [f"_meta '{CONVERSATION_KEY}' must be a text of 1 to {LONGEST_CONVERSATION} characters"]
        )
    return Caller(user, named)


def _of_session(session_id: str) -> str:
    """The conversation of a session, without its id: whoever knows that may speak in the session."""
    import hashlib

    return f"session-{hashlib.sha256(session_id.encode('utf-8', 'backslashreplace')).hexdigest()[:32]}"


def _named(info: Any) -> str:
    if not isinstance(info, Mapping):
        return ""
    known = cast("Mapping[str, Any]", info)
    words = (word for key in ("name", "version") if isinstance(word := known.get(key), str))
    return " ".join(filter(None, words))[:_LONGEST_CLIENT]


def _text(written: bytes | None) -> str | None:
    return None if written is None else written.decode("utf-8", "backslashreplace")
