"""The inbound APIs: of each, how a request is read and an answer written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..json_requests import RequestJson
from .anthropic_messages.parse import parse_request as parse_messages
from .anthropic_messages.render import call_id as messages_call_id
from .anthropic_messages.render import message_id
from .anthropic_messages.render import render_answer as render_message
from .anthropic_messages.render import render_error as render_messages_error
from .anthropic_messages.stream import MessageStream
from .asked import Asked
from .faults import RequestFault
from .openai_chat.parse import parse_request as parse_chat
from .openai_chat.render import call_id as openai_call_id
from .openai_chat.render import render_answer as render_completion
from .openai_chat.render import render_error as render_openai_error
from .openai_chat.stream import ChatStream
from .openai_responses.parse import Earlier
from .openai_responses.parse import parse_request as parse_responses
from .openai_responses.render import render_answer as render_response
from .openai_responses.render import response_id
from .openai_responses.stream import ResponseStream
from .pieces import Piece
from .replies import Begun, Collected

__all__ = ["CHAT", "MESSAGES", "RESPONSES", "Api", "Earlier", "Stream"]


class Stream(Protocol):
    """Writes an answer as it comes, as frames of server-sent events."""

    @property
    def ping(self) -> bytes:
        """What is sent while nothing else is, so that nobody takes the connection for dead."""
        ...

    def begin(self) -> Iterator[bytes]:
        """What comes before the first piece."""
        ...

    def piece(self, piece: Piece) -> Iterator[bytes]:
        """The frames of ``piece``."""
        ...

    def failed(self, fault: RequestFault) -> Iterator[bytes]:
        """The end of an answer that breaks off."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """An inbound API: ``parse`` raises ``RequestFault``, and takes what gives the messages up to and with an
    earlier response; ``render_answer`` and ``render_error`` give the JSON of a body, ``stream`` what writes
    an answer as it comes, ``call_id`` the id of a call as the client knows it. ``stored`` gives the id under
    which an answer is kept, if it is, and what is kept beside its messages. ``told_in_stream`` are the codes
    of errors that its clients look for in a stream alone."""

    parse: Callable[[RequestJson, Earlier], Asked]
    render_answer: Callable[[Begun, Collected], dict[str, Any]]
    render_error: Callable[[RequestFault], dict[str, Any]]
    stream: Callable[[Begun], Stream]
    call_id: Callable[[Begun, int], str]
    stored: Callable[[Begun, Collected], tuple[str, Mapping[str, Any]]]
    told_in_stream: frozenset[str] = frozenset()


CHAT = Api(
    lambda body, _earlier: parse_chat(body),
    render_completion,
    render_openai_error,
    ChatStream,
    openai_call_id,
    lambda begun, answer: (begun.id, render_completion(begun, answer)),
)
"""OpenAI's Chat Completions."""

RESPONSES = Api(
    parse_responses,
    render_response,
    render_openai_error,
    ResponseStream,
    openai_call_id,
    lambda begun, answer: (response_id(begun), render_response(begun, answer)),
    frozenset({"context_length_exceeded"}),
)
"""OpenAI's Responses."""

MESSAGES = Api(
    parse_messages,
    render_message,
    render_messages_error,
    MessageStream,
    messages_call_id,
    lambda begun, _answer: (message_id(begun), begun.asked.echo),
)
"""Anthropic's Messages."""
