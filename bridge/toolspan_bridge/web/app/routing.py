"""From a request to its route: matching by whole segments, and answers where there is no route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route, Router
from typing_extensions import override

from toolspan_server.http_server.asgi import RefusedResponse

from ...errors import BridgeError
from ..problems import Problem, problem_of
from .refusals import as_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from toolspan_server.http_server.asgi import Render


class SegmentRoute(Route):
    """A route whose parameters are whole segments of the path: ``a%2Fb`` is one of them, ``a/b``."""

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        raw: bytes = scope.get("raw_path", b"")
        if b"%" not in raw:
            return super().matches(scope)
        found, inner = super().matches({**scope, "path": _by_segments(raw)})
        if found is not Match.NONE:
            inner["path_params"] = {
                name: unquote(value) if isinstance(value, str) else value
                for name, value in inner["path_params"].items()
            }
        return found, inner


def router_of(
    routes: Sequence[BaseRoute], render_of: Callable[[Scope], Render]
) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The app of ``routes``. What none of them answers is written as ``render_of`` says for its path."""
    router = _router(routes)
    of_path = {route.path: _router(_those_of(route.path, routes)) for route in routes if _is_plain(route)}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        response: Response | None = None
        is_literal = b"%" not in scope.get("raw_path", b"%")
        chosen = of_path.get(scope["path"], router) if is_literal else router
        try:
            await chosen({**scope, "app": router}, receive, send)
        except ClientDisconnect:
            response = _written(Problem(400, "the body is not whole"), render_of(scope))
        except HTTPException as error:
            response = _written(_problem_of_http(error, scope), render_of(scope))
        except Problem as problem:
            response = _written(problem, render_of(scope))
        except BridgeError as error:
            response = _written(problem_of(error), render_of(scope))
        if response is not None:
            await response(scope, receive, send)

    return answer


def _router(routes: Sequence[BaseRoute]) -> Router:
    router = Router(list(routes), redirect_slashes=False)
    router.default = _nothing_here
    return router


def _is_plain(route: BaseRoute) -> TypeGuard[Route]:
    """Whether the path of ``route`` has no parameters."""
    return isinstance(route, Route) and not route.param_convertors


def _those_of(path: str, routes: Sequence[BaseRoute]) -> list[BaseRoute]:
    """The routes that may answer a request for ``path``, in their order."""
    return [route for route in routes if not isinstance(route, Route) or route.path_regex.match(path)]


def _written(problem: Problem, render: Render) -> Response:
    if render is as_problem:
        return problem.response()
    media_type, body = render(RefusedResponse(problem.status, problem.detail))
    return Response(body, problem.status, problem.headers, media_type.decode())


def _problem_of_http(error: HTTPException, scope: Scope) -> Problem:
    """What a route of Starlette's says, as a problem."""
    headers: dict[str, Any] = dict(error.headers or {})
    if error.status_code != 405 or "Allow" not in headers:
        return Problem(error.status_code, str(error.detail), headers=headers)
    headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
    detail = f"{scope['method']} is not allowed here (allowed: {headers['Allow']})"
    return Problem(405, detail, headers=headers)


def _by_segments(raw: bytes) -> str:
    """The path of a request, each segment decoded but for what would make two of it."""
    segments = raw.decode("latin-1").partition("?")[0].split("/")
    return "/".join(unquote(segment).replace("%", "%25").replace("/", "%2F") for segment in segments)


async def _nothing_here(scope: Scope, _receive: Receive, _send: Send) -> None:
    raise Problem(404, f"nothing is at {scope['path']!r}: the API is described at /api/openapi.json")
