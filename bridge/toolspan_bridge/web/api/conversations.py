"""``/api/conversations``: conversations that go on in the background, and their events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ..endpoint import Call, Endpoint
from ..problems import Problem
from ._conversation_values import (
    Cancelled,
    ConversationChange,
    ConversationList,
    Exported,
    Fork,
    NewConversation,
    NewMessage,
    PersonsAnswer,
    Retry,
    Started,
    WantedConversations,
    WholeConversation,
)

if TYPE_CHECKING:
    from ..conversations.own import OwnConversations

_MOST_KEY = 200
_TYPES = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "openai": "application/json",
}


def _own(call: Call) -> OwnConversations:
    from ..conversations.engine import Conversations

    return call.app.of(Conversations).of(call.principal)


def _key(call: Call) -> str:
    key = call.request.headers.get("idempotency-key", "")
    if len(key) > _MOST_KEY:
        raise Problem(400, f"an Idempotency-Key has at most {_MOST_KEY} characters")
    return key


async def listed(call: Call) -> dict[str, Any]:
    """One page."""
    wanted = call.asked(WantedConversations)
    return await _own(call).list(wanted, wanted.search)


async def created(call: Call) -> dict[str, Any]:
    """A new one."""
    from ..conversations.details import Details

    given = call.values(NewConversation)
    details = Details(
        given.title or "",
        given.model or "",
        given.preset or "",
        given.system or "",
        None if given.tools is None else tuple(given.tools),
    )
    return await _own(call).create(details)


async def shown(call: Call) -> dict[str, Any]:
    """The whole of one."""
    return await _own(call).show(call.path["id"])


async def changed(call: Call) -> dict[str, Any]:
    """With other details."""
    given = call.values(ConversationChange).model_dump(exclude_none=True)
    if "tools" in given:
        given["tools"] = tuple(given["tools"])
    return await _own(call).change(call.path["id"], given)


async def deleted(call: Call) -> None:
    """It is gone."""
    await _own(call).delete(call.path["id"])


async def asked(call: Call) -> dict[str, Any]:
    """The run that answers."""
    from ..conversations.live import Posted

    given = call.values(NewMessage)
    posted = Posted(given.text, given.parts(), given.model or "")
    return {"run": (await _own(call).post(call.path["id"], posted, _key(call))).as_dict()}


async def retried(call: Call) -> dict[str, Any]:
    """The run that answers again."""
    given = call.values(Retry)
    return {"run": (await _own(call).retry(call.path["id"], given.model or "", _key(call))).as_dict()}


async def followed(call: Call) -> Response:
    """The events, as they come."""
    from ..app.streams import event_stream, last_event_id

    events = await _own(call).events(call.path["id"], last_event_id(call.request))
    return event_stream(events)


async def cancelled(call: Call) -> dict[str, Any]:
    """Once it is over."""
    return await _own(call).cancel(call.path["id"])


async def answered(call: Call) -> None:
    """The answer was taken."""
    given = call.values(PersonsAnswer).model_dump(exclude_none=True)
    await _own(call).answer(call.path["id"], call.path["request"], given)


async def forked(call: Call) -> dict[str, Any]:
    """The copy."""
    return await _own(call).fork(call.path["id"], call.values(Fork).questions)


async def exported(call: Call) -> Response:
    """It in that form."""
    form = call.asked(Exported).format
    text = await _own(call).export(call.path["id"], form)
    return Response(text.encode("utf-8", "backslashreplace"), media_type=_TYPES[form])


_TAG = "conversations"
_ONE = "/api/conversations/{id}"
_EVENTS = (
    "Server-sent events with growing ids. Last-Event-ID, or last_event_id, goes on after that event; without "
    "it those of the latest run come. An event `reset` says that some are not kept any more: read the "
    "conversation, then go on. After `run_ended` nothing more of a run comes."
)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/conversations",
        "List your conversations.",
        listed,
        _TAG,
        audience="own",
        query=WantedConversations,
        answer=ConversationList,
        problems=(400, 403, 503),
    ),
    Endpoint(
        "POST",
        "/api/conversations",
        "Begin a conversation.",
        created,
        _TAG,
        audience="own",
        body=NewConversation,
        answer=WholeConversation,
        status=201,
        problems=(403, 409, 422, 503),
        starts=True,
    ),
    Endpoint(
        "GET",
        _ONE,
        "Read a conversation.",
        shown,
        _TAG,
        audience="own",
        answer=WholeConversation,
        problems=(404, 422, 503),
    ),
    Endpoint(
        "PATCH",
        _ONE,
        "Change the title, model, preset, system prompt or tools.",
        changed,
        _TAG,
        audience="own",
        body=ConversationChange,
        answer=WholeConversation,
        problems=(404, 422, 503),
    ),
    Endpoint(
        "DELETE",
        _ONE,
        "Delete a conversation.",
        deleted,
        _TAG,
        audience="own",
        status=204,
        problems=(404, 409, 503),
    ),
    Endpoint(
        "POST",
        f"{_ONE}/messages",
        "Ask a question; the answer comes as events.",
        asked,
        _TAG,
        audience="own",
        body=NewMessage,
        answer=Started,
        status=202,
        problems=(404, 409, 422, 429, 503),
        starts=True,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/retry",
        "Ask the last question again.",
        retried,
        _TAG,
        audience="own",
        body=Retry,
        answer=Started,
        status=202,
        problems=(404, 409, 422, 429, 503),
        starts=True,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/events",
        "Follow what happens in a conversation.",
        followed,
        _TAG,
        audience="own",
        description=_EVENTS,
        problems=(400, 404, 429, 503),
        stream=True,
        media_type="text/event-stream",
    ),
    Endpoint(
        "POST",
        f"{_ONE}/cancel",
        "End what is being answered.",
        cancelled,
        _TAG,
        audience="own",
        answer=Cancelled,
        problems=(404, 503),
    ),
    Endpoint(
        "POST",
        f"{_ONE}/answers/{{request}}",
        "Answer what the person is asked: an approval, or a server's question.",
        answered,
        _TAG,
        audience="own",
        body=PersonsAnswer,
        status=204,
        problems=(404, 409, 422, 503),
    ),
    Endpoint(
        "POST",
        f"{_ONE}/fork",
        "Copy a conversation, to go on another way.",
        forked,
        _TAG,
        audience="own",
        body=Fork,
        answer=WholeConversation,
        status=201,
        problems=(404, 409, 422, 503),
        starts=True,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/export",
        "Export a conversation.",
        exported,
        _TAG,
        audience="own",
        query=Exported,
        problems=(404, 422, 503),
    ),
)
