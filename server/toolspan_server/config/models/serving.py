"""Settings of serving a config, for every transport."""

from __future__ import annotations

from typing import Literal

from ...schema.keys import CHOICE, PARTS, only
from ...schema.records import (
    Record,
    key,
)

_DAY_MS = 86_400_000


class ListCacheConfig(Record):
    """How long clients of MCP 2026-07-28 may cache lists and resources (server/utilities/caching)."""

    ttl_ms: int = key(
        "How long clients may reuse an answer, in milliseconds; 0: never.",
        least=0,
        most=_DAY_MS,
        default=0,
        inert=CHOICE,
    )
    scope: Literal["private", "public"] = key(
        "Whether an answer is the same for every client, so that caches may share it.",
        default="private",
        inert=only("private"),
    )


class ServingConfig(Record):
    """Settings of serving the config."""

    reload: bool = key(
        "Whether changes of this file are applied while the server runs.", default=True, inert=CHOICE
    )
    error_details: bool | None = key(
        "Whether clients get the messages of unexpected errors, which may contain paths and stderr of"
        " programs; null: on stdio only. Otherwise they get a reference to the log, which has the "
        "message.",
        default=None,
        inert=only(False, None),
    )
    cache: ListCacheConfig = key(
        "How long clients may cache lists and resources.", factory=ListCacheConfig.initial, inert=PARTS
    )
