"""From requests to endpoints: one route for each path, which answers every method properly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from toolspan_server.http_server.auth import PRINCIPAL

from ...errors import BridgeError
from ...principals import LOCAL_USER, is_operator
from ..endpoint import Call, Endpoint
from ..problems import Problem, encoded, problem_of, problem_of_values
from .json_bodies import read_body, read_json
from .routing import SegmentRoute

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from .state import App

_EVENT_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}


def principal_of(scope: Scope) -> str:
    """Who makes the request."""
    found: bytes | None = scope.get(PRINCIPAL)
    return LOCAL_USER if found is None else found.decode("utf-8", "backslashreplace")


def routes_of(app: App, endpoints: Iterable[Endpoint]) -> list[SegmentRoute]:
    """A route for each path, those without parameters first."""
    by_path: defaultdict[str, dict[str, Endpoint]] = defaultdict(dict)
    for endpoint in endpoints:
        if endpoint.method in by_path[endpoint.path]:
            raise ValueError(f"two endpoints are {endpoint.method} {endpoint.path}")
        by_path[endpoint.path][endpoint.method] = endpoint
    ordered = sorted(by_path.items(), key=lambda item: (item[0].count("{"), item[0]))
    return [SegmentRoute(path, Resource(app, methods)) for path, methods in ordered]


class Resource:
    """The ASGI app of one path, with an endpoint for each of its ``methods``."""

    def __init__(self, app: App, methods: Mapping[str, Endpoint]) -> None:
        self._app = app
        self._methods = dict(methods)
        allowed = {*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}
        self._allow = ", ".join(sorted(allowed))
        self._streams = "GET" in methods and methods["GET"].stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, principal, web = Request(scope, receive, send), principal_of(scope), self._app.config.web
        with ExitStack() as held:
            try:
                self._app.rates.count(principal, web.requests_per_minute)
                if self._streams and request.method == "GET":
                    held.enter_context(self._app.streams.one_of(principal, web.streams))
                response = await self._answer(request)
            except Problem as problem:
                response = problem.response()
            except BridgeError as error:
                response = problem_of(error).response()
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        method = request.method
        if method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": self._allow})
        endpoint = self._methods.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise Problem(
                405, f"{method} is not allowed here (allowed: {self._allow})", headers={"Allow": self._allow}
            )
        if method == "HEAD" and endpoint.stream:
            found = await answered(self._app, endpoint, request)
            return Response(status_code=found.status_code, headers=_EVENT_HEADERS)
        if endpoint.starts and (key := request.headers.get("idempotency-key")) is not None:
            return await self._app.answers.once(key, request, partial(answered, self._app, endpoint))
        return await answered(self._app, endpoint, request)


async def answered(app: App, endpoint: Endpoint, request: Request) -> Response:
    """The answer of ``endpoint`` to ``request``. Raises ``Problem`` and ``BridgeError``."""
    _refuse_foreign(endpoint, request)
    call = Call(
        app,
        request,
        principal_of(request.scope),
        {name: str(value) for name, value in request.path_params.items()},
        _query(endpoint, request),
        await _body(endpoint, request, app.config.limits.message_bytes),
    )
    return response_of(endpoint, await endpoint.handler(call))


def _refuse_foreign(endpoint: Endpoint, request: Request) -> None:
    """Raise ``Problem`` where the endpoint is the operator's, and the request somebody else's."""
    if endpoint.audience == "operator" and not is_operator(principal_of(request.scope)):
        detail = (
            "this belongs to whoever runs the server: ask without a token where none is needed, or with that "
            "of --token-env"
        )
        raise Problem(403, detail, "operator_only")


def response_of(endpoint: Endpoint, found: Any) -> Response:
    """The response of what a handler gave."""
    if isinstance(found, Response):
        return found
    if found is None:
        return Response(status_code=204)
    return Response(encoded(found), endpoint.status, media_type=endpoint.media_type)


def _query(endpoint: Endpoint, request: Request) -> BaseModel | None:
    given: dict[str, Any] = {}
    known = {} if endpoint.query is None else endpoint.query.model_fields
    for name, value in request.query_params.multi_items():
        if name in given:
            raise Problem(422, f"the parameter {name!r} is there twice")
        if name not in known and not (endpoint.stream and name == "last_event_id"):
            names = ", ".join(known) or "none"
            raise Problem(422, f"there is no parameter {name!r} (there are: {names})")
        given[name] = value
    if endpoint.query is None:
        return None
    try:
        return endpoint.query.model_validate({name: given[name] for name in known if name in given})
    except ValidationError as error:
        raise problem_of_values(error, "?") from None


async def _body(endpoint: Endpoint, request: Request, most: int) -> BaseModel | None:
    if endpoint.body is None:
        if request.method != "GET" and (await read_body(request, most)).strip() not in (b"", b"{}"):
            raise Problem(400, "there is nothing to say in the body: leave it out, or send {}")
        return None
    raw, value = await read_json(request, most)
    if not isinstance(cast("object", value), dict):
        raise Problem(422, "the body must be a JSON object")
    try:
        return endpoint.body.model_validate_json(raw, strict=True)
    except ValidationError as error:
        raise problem_of_values(error) from None
