"""What the endpoints of conversations take and give."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

from pydantic import Field

from toolspan_server.common.call_patterns import LONGEST_GLOB

from ...messages import Part
from ...sessions.attachments import MAX_FILES, file_part
from ..endpoint import Answer, Values
from ..pages import Page
from ..problems import FieldProblem, Problem

_NAME = 200
_MODEL = "PROVIDER/MODEL; without it the conversation's, the preset's, the route's, or the default one."


class WantedConversations(Page):
    """Which conversations are wanted."""

    search: str = Field("", max_length=_NAME, description="A text that the title holds, in any case.")


class NewConversation(Values):
    """A conversation that begins."""

    model: str | None = Field(None, max_length=_NAME, description=_MODEL)
    preset: str | None = Field(None, max_length=_NAME, description="The name of a preset.")
    system: str | None = Field(None, max_length=100_000, description="The system prompt.")
    tools: list[Annotated[str, Field(max_length=LONGEST_GLOB)]] | None = Field(
        None, max_length=1_000, description="Globs of TOOL or SERVER/TOOL that are on; without it all are."
    )
    title: str | None = Field(
        None, max_length=_NAME, description="Without it the beginning of the first question."
    )


class ConversationChange(NewConversation):
    """What is to be changed; what is left out, or null, stays; an empty text takes a choice back."""


class Attachment(Values):
    """A file that goes with a question: an image, a PDF, a sound or a text."""

    name: str = Field(max_length=_NAME)
    media_type: str | None = Field(None, max_length=_NAME, description="What it is is told by its bytes.")
    data: str = Field(description="Its bytes in base64.")


class NewMessage(Values):
    """A question."""

    text: str = Field(min_length=1, max_length=1_000_000)
    attachments: list[Attachment] = Field([], max_length=MAX_FILES)
    model: str | None = Field(None, max_length=_NAME, description="Who answers this question alone.")

    def parts(self) -> tuple[Part, ...]:
        """The attachments. Raises ``Problem`` and ``UsageError``."""
        return tuple(_part(number, each) for number, each in enumerate(self.attachments))


class Retry(Values):
    """The last question, to be asked again."""

    model: str | None = Field(None, max_length=_NAME, description="Who answers it this time.")


class Fork(Values):
    """How much of a conversation is copied."""

    questions: int | None = Field(None, ge=1, description="Only so many questions, and what came of them.")


class PersonsAnswer(Values):
    """An answer to an approval (``decision``), or to a server's question (``action``)."""

    decision: Literal["allow_once", "allow_conversation", "allow_always", "deny"] | None = None
    reason: str | None = Field(None, max_length=10_000, description="Why it is denied, for the model.")
    arguments: dict[str, Any] | None = Field(
        None, description="What to call the tool with, where the person changed it."
    )
    action: Literal["accept", "decline", "cancel"] | None = None
    content: dict[str, Any] | None = Field(None, description="What the form was filled in with.")


class Exported(Values):
    """In which form."""

    format: Literal["json", "markdown", "openai"] = "json"


class RunState(Answer):
    """A question that is being answered, or was: ``running``, ``answered``, ``failed`` or ``cancelled``."""

    id: str
    state: Literal["running", "answered", "failed", "cancelled"]


class ConversationInfo(Answer):
    """A conversation in a list."""

    id: str
    title: str
    created: str
    changed: str
    model: str
    preset: str | None
    system: str | None
    tools: list[str] | None
    forked_from: str | None
    bytes: int
    run: RunState | None


class ConversationList(Answer):
    """The conversations, the one that was gone on with last first."""

    conversations: list[ConversationInfo]
    next_cursor: str | None


class WholeConversation(ConversationInfo):
    """A conversation: ``messages``, what the person is asked now (``pending``), and the id of the last
    event, after which the events go on."""

    messages: list[dict[str, Any]]
    pending: list[dict[str, Any]]
    last_event_id: int


class Started(Answer):
    """The run that answers."""

    run: RunState


class Cancelled(Answer):
    """Whether something was cancelled."""

    cancelled: bool


def _part(number: int, attachment: Attachment) -> Part:
    try:
        data = base64.b64decode(attachment.data, validate=True)
    except (binascii.Error, ValueError):
        pointer = f"/attachments/{number}/data"
        wrong = FieldProblem(pointer=pointer, detail="must be base64")
        raise Problem(422, f"{pointer}: must be base64", errors=[wrong]) from None
    return file_part(data, attachment.name)
