"""The gateway's routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..apis import CHAT, MESSAGES, RESPONSES
from .counting import TokenCount
from .exchange import Answering, Exchange
from .models import ModelList, Models
from .recorded import Recorded
from .stored import StoredResponse

if TYPE_CHECKING:
    from starlette.routing import Route
    from starlette.types import ASGIApp

__all__ = ["gateway_routes"]


def gateway_routes(answering: Answering, models: Models) -> list[Route]:
    """The routes under ``/v1``, which answer as ``answering`` says; ``models`` lists."""
    from starlette.routing import Route

    runs, who = answering.runs, answering.who

    def recorded(endpoint: ASGIApp) -> Recorded:
        return Recorded(endpoint, runs.activity, who)

    posted: dict[str, ASGIApp] = {
        "/v1/chat/completions": Exchange(CHAT, answering),
        "/v1/responses": Exchange(RESPONSES, answering),
        "/v1/messages": Exchange(MESSAGES, answering),
        "/v1/messages/count_tokens": recorded(TokenCount(answering)),
    }
    stored = recorded(StoredResponse(runs, who))
    listed = recorded(ModelList(models))
    return [
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posted.items()),
        Route("/v1/responses/{response}", stored, methods=["GET", "DELETE"]),
        Route("/v1/models", listed, methods=["GET"]),
        Route("/v1/models/{model:path}", listed, methods=["GET"]),
    ]
