"""An endpoint of the API: its place, the models of what it takes and gives, and its handler.

A module of ``web/api`` has a sequence ``ENDPOINTS``. Routing, checks of the request, the OpenAPI description
and its page are made of these alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from starlette.requests import Request

    from .app.state import App

Audience = Literal["own", "shared", "operator"]
"""Whom an endpoint shows or changes things for: ``own``, the caller alone, and nothing of others is there;
``shared``, the same for everybody who may come in; ``operator``, what belongs to whoever runs the app, and
nobody else may ask for it."""
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
M = TypeVar("M", bound=BaseModel)


class Values(BaseModel):
    """What a body or a query may hold: unknown names are refused, and no value is converted to another
    type."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Answer(BaseModel):
    """What an endpoint answers with; further members may come."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to an endpoint, with its values checked: ``query`` and ``body`` are of the endpoint's models.

    ``principal`` is who calls: ``token NAME``, ``oauth ISSUER SUBJECT``, or ``local`` where no token is
    needed.
    """

    app: App
    request: Request
    principal: str
    path: dict[str, str]
    query: BaseModel | None = None
    body: BaseModel | None = None

    def values(self, model: type[M]) -> M:
        """The body, which is of ``model``."""
        assert isinstance(self.body, model)
        return self.body

    def asked(self, model: type[M]) -> M:
        """The query, which is of ``model``."""
        assert isinstance(self.query, model)
        return self.query


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One ``method`` of one ``path`` (``/api/presets/{name}``), under its resource's ``tag``, for an
    ``audience``.

    ``summary`` is a short sentence, ``description`` says more. ``query``, ``body`` and ``answer`` are the
    models of what comes and goes; ``status`` is that of an answer that is no problem. ``problems`` are the
    statuses of its own problems; those that every endpoint may give are not named. ``handler`` gives an
    ``answer``, a mapping of that shape, a ``Response`` of its own, or ``None`` for 204. ``stream``: it gives
    server-sent events. ``starts``: it starts or changes something, and honours ``Idempotency-Key``.
    """

    method: Method
    path: str
    summary: str
    handler: Handler
    tag: str
    audience: Audience = field(kw_only=True)
    description: str = ""
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    status: int = 200
    problems: tuple[int, ...] = ()
    stream: bool = False
    starts: bool = False
    media_type: str = "application/json"
