"""A server's question to the person (MCP, client/elicitation): a form, or a page to visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast
from urllib.parse import urlsplit

from toolspan_server.engines.upstreams import RefusedQuestion

from .fields import FormField, read_fields

INVALID_PARAMS = -32602
MAX_MESSAGE = 4_000
"""The most characters of a server's message to the person; the rest is cut."""

ElicitAction = Literal["accept", "decline", "cancel"]
"""``decline`` is a no; ``cancel`` is no answer at all."""


@dataclass(frozen=True, slots=True)
class Elicitation:
    """What ``server`` asks the person within a call of ``tool``: to fill in ``fields``, or to visit ``url``.

    ``schema`` is the JSON Schema of a form's answer. ``id`` is the server's own for a page, if it gave one.
    ``precedes_call``: the call is made again once the person is done at the page, so that whoever asks may
    wait for that and answer with ``Elicited.done``; the question is withdrawn when the server says it first.
    """

    server: str
    tool: str
    message: str
    fields: tuple[FormField, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    url: str = ""
    id: str = ""
    precedes_call: bool = False

    @property
    def mode(self) -> Literal["form", "url"]:
        """``url`` when a page is to be visited."""
        return "url" if self.url else "form"


@dataclass(frozen=True, slots=True)
class Elicited:
    """The person's answer; ``content`` is what a form was filled in with. ``done``: the person has not only
    agreed to visit a page, but is done there."""

    action: ElicitAction
    content: Mapping[str, Any] | None = None
    done: bool = False

    def as_dict(self) -> dict[str, Any]:
        """``ElicitResult``: ``{"action"}``, and ``"content"`` of a form that was accepted."""
        return {"action": self.action} | ({} if self.content is None else {"content": dict(self.content)})


class Elicitor(Protocol):
    """Who asks the person."""

    async def elicit(self, question: Elicitation) -> Elicited:
        """The person's answer. Questions of several calls may come at the same time; a question is cancelled
        with the call that it belongs to."""
        ...


def read_elicitation(params: Mapping[str, Any], server: str, tool: str) -> Elicitation:
    """The question in the ``params`` of ``elicitation/create``. Raises ``RefusedQuestion``."""
    message = params.get("message")
    if not isinstance(message, str):
        raise RefusedQuestion(INVALID_PARAMS, "message: a text is needed")
    message = message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
    if params.get("mode", "form") == "url":
        given, known_as = params.get("url"), params.get("elicitationId")
        url = _checked_url(given)
        return Elicitation(server, tool, message, url=url, id=known_as if isinstance(known_as, str) else "")
    if params.get("mode", "form") != "form":
        raise RefusedQuestion(INVALID_PARAMS, "mode: form and url are supported")
    schema = params.get("requestedSchema")
    if not isinstance(schema, dict):
        raise RefusedQuestion(INVALID_PARAMS, "requestedSchema: an object is needed")
    try:
        fields = read_fields(cast("dict[str, Any]", schema))
    except ValueError as error:
        raise RefusedQuestion(INVALID_PARAMS, str(error)) from None
    return Elicitation(server, tool, message, fields, cast("dict[str, Any]", schema))


def _checked_url(given: Any) -> str:
    """``given``, if it is a web address. Raises ``RefusedQuestion``."""
    try:
        parts = urlsplit(given) if isinstance(given, str) and len(given) <= MAX_MESSAGE else None
        if parts is not None and parts.scheme in ("https", "http") and parts.hostname and parts.port != 0:
            return str(given)
    except ValueError:
        pass
    raise RefusedQuestion(INVALID_PARAMS, "url: the http or https address of a page is needed")
