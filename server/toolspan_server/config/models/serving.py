"""How a config is served, whatever carries it."""

from __future__ import annotations

from typing import Literal

from ...schema.records import (
    Record,
    key,
)

_DAY_MS = 86_400_000


class ListCacheConfig(Record):
    """What clients of MCP 2026-07-28 may keep of lists and resources (server/utilities/caching)."""

    ttl_ms: int = key(
        "How long an answer may be taken for current, in milliseconds; 0: it is asked for each time.",
        least=0,
        most=_DAY_MS,
        default=0,
    )
    scope: Literal["private", "public"] = key(
        "Whether an answer is the same for everybody, so that caches may share it.",
        default="private",
    )


class ServingConfig(Record):
    """How the config is served."""

    reload: bool = key("Whether a change of this file takes effect while the server runs.", default=True)
    error_details: bool | None = key(
        "Whether clients read what unexpected errors say, with its paths and what programs wrote to stderr; "
        "null: on stdio only. Where they do not, the log has it, under the reference that they get.",
        default=None,
    )
    cache: ListCacheConfig = key(
        "What clients may keep of lists and resources.",
        factory=ListCacheConfig.initial,
    )
