"""The gateway's routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..apis import CHAT, MESSAGES, RESPONSES, Api
from .counting import TokenCount
from .exchange import PING_SECONDS, Admission, Exchange, Who
from .models import ModelList, Models
from .running import Runs

if TYPE_CHECKING:
    from starlette.routing import Route

__all__ = ["gateway_routes"]


def gateway_routes(
    runs: Runs,
    models: Models,
    who: Who,
    admission: Admission | None = None,
    ping_seconds: float = PING_SECONDS,
) -> list[Route]:
    """The routes under ``/v1``: ``runs`` answers, ``models`` lists, ``who`` gives a request's principal; a
    stream that is silent for ``ping_seconds`` gets a ping."""
    from starlette.routing import Route

    admission = admission or Admission()

    def exchange(api: Api) -> Exchange:
        return Exchange(api, runs, who, admission, ping_seconds)

    posted: dict[str, Callable[..., Any]] = {
        "/v1/chat/completions": exchange(CHAT),
        "/v1/responses": exchange(RESPONSES),
        "/v1/messages": exchange(MESSAGES),
        "/v1/messages/count_tokens": TokenCount(runs, who),
    }
    listed = ModelList(models)
    return [
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posted.items()),
        Route("/v1/models", listed, methods=["GET"]),
        Route("/v1/models/{model:path}", listed, methods=["GET"]),
    ]
