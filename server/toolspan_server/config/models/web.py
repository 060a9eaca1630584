"""``web``: settings of the page, the API and the gateway."""

from __future__ import annotations

from ...schema.records import Record, key
from ...schema.values import Count


class WebConfig(Record):
    """Settings of `toolspan ui` and `toolspan gateway`."""

    requests_per_minute: Count = key(
        "Most requests to the API of one principal in a minute; a sixth of them may come at once.",
        default=3_000,
    )
    kept_answers: Count = key(
        "Most answers that are kept for requests which come again with their Idempotency-Key, for an hour.",
        default=1_000,
    )
