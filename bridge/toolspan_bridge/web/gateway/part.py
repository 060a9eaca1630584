"""The gateway as a part of the app: its routes under ``/v1``, and refusals in its clients' shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..part import Part

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from toolspan_server.http_server.asgi import RefusedResponse, Scope

    from ..app.state import App

_MESSAGES = "/v1/messages"
_UNAUTHORIZED = 401


def _routes(app: App) -> Sequence[BaseRoute]:
    from ..activity import Activity
    from .serving.exchange import Answering
    from .serving.of_session import SessionPreparation, caller_of, listed_models
    from .serving.routes import gateway_routes
    from .serving.running import Runs

    runs = Runs(SessionPreparation(app), activity=app.of(Activity))
    answering = Answering(runs, caller_of, cache_seconds=lambda: app.config.web.cache_seconds)
    return gateway_routes(answering, listed_models(app))


def _refusal(scope: Scope, refused: RefusedResponse) -> tuple[bytes, bytes]:
    """What refuses a request before it is read: a missing token, a foreign page, too large a body."""
    import json

    from .anthropic_messages.render import render_error as anthropic_error
    from .faults import RequestFault
    from .openai_chat.render import render_error as openai_error

    code = "invalid_api_key" if refused.status == _UNAUTHORIZED else ""
    fault = RequestFault(refused.message, status=refused.status, code=code)
    named = any(name == b"anthropic-version" for name, _ in scope.get("headers", ()))
    is_anthropic = named or scope["path"].startswith(_MESSAGES)
    render = anthropic_error if is_anthropic else openai_error
    return b"application/json", json.dumps(render(fault)).encode()


PART = Part(routes=_routes, errors_under="/v1", refusals=_refusal)
"""The gateway."""
