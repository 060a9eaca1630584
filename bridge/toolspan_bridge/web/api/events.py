"""``/api/events``: what happens in the app, as it happens."""

from __future__ import annotations

from starlette.responses import Response

from ..app.streams import event_stream, last_event_id
from ..endpoint import Call, Endpoint


async def followed(call: Call) -> Response:
    """The events from now on, or after ``Last-Event-ID``."""
    return event_stream(call.app.events.after(last_event_id(call.request), call.principal))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/events",
        "Follow what happens: server-sent events.",
        followed,
        "events",
        audience="shared",
        description="Events: config_reloaded, tools_changed, server_changed, and for whoever runs the server "
        "config_failed and note; missed "
        "says how many are not kept any more: null where the server was started anew.",
        problems=(400,),
        stream=True,
        media_type="text/event-stream",
    ),
)
