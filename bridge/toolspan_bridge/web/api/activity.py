"""``/api/activity``: what was done, by whom, how fast, and for how much."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AwareDatetime, Field

from ...principals import is_operator
from ..endpoint import Answer, Call, Endpoint, Values
from ..pages import Page, before_of, cursor_of

if TYPE_CHECKING:
    from starlette.responses import Response

_DAY = 86_400.0
_USUAL = 100
_FILTERS = (
    "kind",
    "status",
    "principal",
    "key",
    "model",
    "provider",
    "server",
    "tool",
    "error_code",
    "group",
)


class Period(Values):
    """From when to when."""

    since: AwareDatetime | None = Field(None, strict=False, description="ISO 8601; by default a day ago.")
    until: AwareDatetime | None = Field(None, strict=False, description="ISO 8601; by default now.")


class Wanted(Page):
    """Which entries are wanted: those with every given value."""

    kind: Literal["request", "run", "tool"] | None = None
    status: Literal["ok", "error", "cancelled"] | None = None
    principal: str | None = Field(None, max_length=500)
    key: str | None = Field(None, max_length=500, description="The name of a virtual key.")
    model: str | None = Field(None, max_length=500)
    provider: str | None = Field(None, max_length=500)
    server: str | None = Field(None, max_length=500)
    tool: str | None = Field(None, max_length=500)
    error_code: str | None = Field(None, max_length=500)
    group: str | None = Field(None, max_length=500, description="The same of a run and its calls.")
    since: AwareDatetime | None = Field(None, strict=False, description="ISO 8601.")
    until: AwareDatetime | None = Field(None, strict=False, description="ISO 8601.")


class EntryInfo(Answer):
    """One line of the log. ``usd`` is null where the cost is not known."""

    id: int
    kind: str
    at: str
    status: str
    total_ms: float
    usd: float | None


class EntryList(Answer):
    """Entries, the latest first."""

    activity: list[EntryInfo]
    next_cursor: str | None


class FiguresInfo(Answer):
    """Figures of entries that are counted together; percentiles to a twentieth."""

    count: int
    errors: int
    usd: float


class NamedFigures(FiguresInfo):
    """The figures of a model, a tool or a path."""

    name: str


class SummaryInfo(Answer):
    """The figures of whole hours."""

    since: str
    until: str
    runs: FiguresInfo
    models: list[NamedFigures]
    tools: list[NamedFigures]
    requests: list[NamedFigures]


async def listed(call: Call) -> dict[str, Any]:
    """The entries that are wanted."""
    from ..activity.activity import Activity
    from ..activity.log import Filter

    wanted = call.asked(Wanted)
    equal = {name: value for name in _FILTERS if (value := getattr(wanted, name)) is not None}
    if (own := _own(call)) is not None and equal.setdefault("principal", own) != own:
        return {"activity": [], "next_cursor": None}
    found = Filter(
        equal,
        None if wanted.since is None else wanted.since.timestamp(),
        None if wanted.until is None else wanted.until.timestamp(),
    )
    most = wanted.limit or _USUAL
    entries = await call.app.of(Activity).listed(found, before_of(wanted.cursor), most + 1)
    more = len(entries) > most
    return {
        "activity": [each.as_dict() for each in entries[:most]],
        "next_cursor": cursor_of((entries[most - 1].id,)) if more else None,
    }


async def summary(call: Call) -> dict[str, Any]:
    """The figures of a period."""
    from ..activity.activity import Activity

    asked = call.asked(Period)
    until = time.time() if asked.until is None else asked.until.timestamp()
    since = until - _DAY if asked.since is None else asked.since.timestamp()
    return (await call.app.of(Activity).summary(since, until, _own(call))).as_dict()


async def events(call: Call) -> Response:
    """The entries as they are written."""
    from ..activity.activity import Activity
    from ..app.streams import event_stream, last_event_id

    return event_stream(call.app.of(Activity).follow(last_event_id(call.request), _own(call)))


def _own(call: Call) -> str | None:
    """Whose entries are shown: the caller's; all of them to the operator, whose the machine is."""
    return None if is_operator(call.principal) else call.principal


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/activity",
        "List what was done, the latest first.",
        listed,
        "activity",
        audience="own",
        description="Your own; where no token is needed, and with that of --token-env, everybody's.",
        query=Wanted,
        answer=EntryList,
        problems=(400,),
    ),
    Endpoint(
        "GET",
        "/api/activity/summary",
        "Calls, errors, latency and cost of each model and tool.",
        summary,
        "activity",
        audience="own",
        query=Period,
        answer=SummaryInfo,
    ),
    Endpoint(
        "GET",
        "/api/activity/events",
        "Follow what is done, as it is.",
        events,
        "activity",
        audience="own",
        description="An entry after another as the event activity; Last-Event-ID goes on where one was.",
        stream=True,
        problems=(400,),
    ),
)
