"""``web``: settings of the page, the API and the gateway."""

from __future__ import annotations

from typing import Annotated, Literal

from ...schema.constraints import Limits
from ...schema.keys import at_most, only
from ...schema.records import Record, key
from ...schema.values import Count

_CacheSeconds = Annotated[int, Limits(0, 86_400)]


class WebConfig(Record):
    """Settings of `toolspan ui` and `toolspan gateway`."""

    requests_per_minute: Count = key(
        "Most requests to the API of one principal in a minute; a sixth of them may come at once.",
        default=3_000,
        inert=at_most(3_000),
    )
    kept_answers: Count = key(
        "Most answers of one principal that are kept for requests which come again with their "
        "Idempotency-Key, for an hour.",
        default=1_000,
        inert=at_most(1_000),
    )
    streams: Count = key(
        "Most streams of events of the API that one principal may follow at once.",
        default=50,
        inert=at_most(50),
    )
    keys: Literal["optional", "required"] = key(
        "Whether requests to the gateway need a virtual key, or a token of auth, also on this machine.",
        default="optional",
        inert=only("required", "optional"),
    )
    cache_seconds: _CacheSeconds = key(
        "How long answers of the gateway are kept for the same request of the same principal, where that has "
        "no X-Toolspan-Cache; 0: not at all.",
        default=0,
    )
