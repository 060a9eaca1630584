"""Who calls: where a request comes from, and whose state its call reads and writes.

A transport makes an ``Origin`` of each request, and it is handed on, as a required argument, to the handler:
nothing between the two has one of its own, or a default for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self, cast

from typing_extensions import override

from ..errors import InvalidParameters

CONVERSATION_KEY = "dev.toolspan/conversation"
"""The key of a request's ``_meta`` that names the conversation which a call belongs to."""

PRINCIPAL_KEY = "dev.toolspan/principal"
"""The key of a request's ``_meta`` that names the principal, where the program that started this server over
stdio speaks for several. Nobody else may send it."""

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
    """Where a request comes from, as its transport knows it.

    ``principal`` is that of its token; ``None`` where no token is asked for. ``session`` is its HTTP session,
    if it has one, and ``client`` the ``clientInfo`` of its connection's handshake. ``authorization`` is the
    header that the guard let pass: the client's secret, which is exchanged and goes to nobody else.
    """

    principal: str | None
    session: str | None = None
    client: Any = None
    authorization: bytes = b""

    @classmethod
    def of(
        cls,
        principal: bytes | None,
        session: bytes | None,
        client: Any = None,
        authorization: bytes | None = None,
    ) -> Self:
        """The origin of a request whose token and headers ``Mcp-Session-Id`` and ``Authorization`` say so."""
        return cls(_text(principal), _text(session), client, authorization or b"")

    @property
    def user(self) -> str:
        """Whose state is meant: the principal's, ``local`` where no token is asked for."""
        return LOCAL_USER if self.principal is None else self.principal

    @property
    def bearer(self) -> str:
        """The bearer token that the request came with; empty without one."""
        scheme, _, token = self.authorization.partition(b" ")
        return token.strip().decode("ascii", "replace") if scheme.lower() == b"bearer" else ""

    def caller(self, meta: Mapping[str, Any]) -> Caller:
        """The user and the conversation of a call with ``meta``.

        The conversation is what ``_meta["dev.toolspan/conversation"]`` names, else the HTTP session (MCP up
        to 2025-11-25), else ``default``: all that comes over stdio, or over HTTP without a session, is then
        one conversation of that user.

        Raises ``InvalidParameters`` when the name is not a text of 1 to 200 characters.
        """
        named = meta.get(CONVERSATION_KEY)
        if named is None:
            return Caller(
                self.user, DEFAULT_CONVERSATION if self.session is None else _of_session(self.session)
            )
        if not isinstance(named, str) or not 1 <= len(named) <= LONGEST_CONVERSATION:
            raise InvalidParameters(
                [f"_meta '{CONVERSATION_KEY}' must be a text of 1 to {LONGEST_CONVERSATION} characters"]
            )
        return Caller(self.user, named)

    def meta_of_worker(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        """``meta`` for a process that is told no session, whose id is a key: it names the conversation."""
        if self.session is None or CONVERSATION_KEY in meta:
            return dict(meta)
        return {**meta, CONVERSATION_KEY: _of_session(self.session)}

    def client_name(self, meta: Mapping[str, Any]) -> str:
        """The name and version of the client of a request with ``meta``, as it gives them there, else as its
        handshake has them; empty when they are not known. At most 100 characters."""
        info = meta.get(CLIENT_INFO_KEY)
        return _named(self.client if info is None else info)

    @override
    def __repr__(self) -> str:
        """Without the token."""
        return f"Origin(principal={self.principal!r}, session={'…' if self.session else None})"


LOCAL = Origin(None)
"""The person at this machine: for the edges that have no token, as stdio and the command line."""


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
