"""``activity``: what the web API and the gateway keep of what they did."""

from __future__ import annotations

from typing import Annotated

from ....schema.constraints import Limits
from ....schema.records import Record, key

_Days = Annotated[int, Limits(1, 36_500)]


class ActivityConfig(Record):
    """How requests, runs and calls are written down, in the file activity.sqlite3 of the state folder."""

    save: bool = key("Whether they are.", default=True)
    keep_days: _Days = key("For how many days.", default=30)
    keep_entries: int = key(
        "How many in all: of more, the oldest are removed.", least=1_000, most=100_000_000, default=1_000_000
    )
    texts: bool = key(
        "Whether questions and answers, and arguments and results of calls, are kept too, cut and without "
        "secrets.",
        default=False,
    )
