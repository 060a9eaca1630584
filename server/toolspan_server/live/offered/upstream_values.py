"""Values that come from an upstream, as they may go out: plain JSON, without secrets, within a limit."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from ...common.json_values import JsonSanitizer
from ...engines.upstreams import CallRefused, NoResult, NotAuthorized, ServerGone
from ...errors import RequestRefused

if TYPE_CHECKING:
    from ...config import Config
    from ...tools.services._upstreams import Upstream

INTERNAL_ERROR = -32603
SECONDS = 30.0
_MOST_VALUES = 1_000_000


def sent(config: Config, value: Any, what: str) -> Any:
    """``value`` as it goes out. Raises ``RequestRefused`` when it is beyond ``limits.resource_bytes``."""
    redact = config.redact if config.has_secrets else None
    plain = JsonSanitizer(_MOST_VALUES, 1 << 30, on_text=redact).copy(value)
    size, most = len(json.dumps(plain, ensure_ascii=False).encode()), config.limits.resource_bytes
    if size > most:
        message = f"{what} has {size:,} bytes, more than {most:,}, the limit of resource_bytes"
        raise RequestRefused(INTERNAL_ERROR, message)
    return plain


@asynccontextmanager
async def refusals_of(upstream: Upstream) -> AsyncGenerator[None]:
    """Raise what the upstream refuses, or cannot answer, as ``RequestRefused``: its own code and words."""
    try:
        yield
    except CallRefused as error:
        raise RequestRefused(error.code, str(error), error.data) from None
    except ServerGone as error:
        message = f"Upstream '{upstream.name}': {error.what}: try again later"
        raise RequestRefused(INTERNAL_ERROR, message) from None
    except (NoResult, NotAuthorized) as error:
        raise RequestRefused(INTERNAL_ERROR, f"Upstream '{upstream.name}': {error}") from None
    except TimeoutError:
        message = f"Upstream '{upstream.name}' did not answer within {SECONDS:g} s"
        raise RequestRefused(INTERNAL_ERROR, message) from None


async def until_ready(upstreams: Iterable[Upstream], seconds: float) -> None:
    """Wait until it is known what each has, for ``seconds`` after it was begun at most: one that never tells
    holds up no request later."""
    for upstream in upstreams:
        if not upstream.catalog.ready.is_set():
            left = upstream.catalog.begun_at + seconds - time.monotonic()
            with anyio.move_on_after(max(left, 0.0)):
                await upstream.catalog.ready.wait()
