"""The list of models, as OpenAI's and Anthropic's clients ask for it (``GET /v1/models``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....errors import BridgeError
from ..anthropic_messages.pages import page_of
from ..anthropic_messages.render import render_error as anthropic_error
from ..faults import RequestFault, fault_in
from ..openai_chat.render import render_error as openai_error
from .sending import headers_of_fault, send_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

__all__ = ["ListedModel", "ModelList", "Models", "is_anthropic"]

_BEGIN = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that a request may name: its ``id``, what people call it, and who has it."""

    id: str
    name: str = ""
    owner: str = "toolspan"


Models = Callable[["Request"], Awaitable[Sequence[ListedModel]]]
"""The models that the one who asks may use. Raises ``BridgeError`` and ``RequestFault``."""


def is_anthropic(request: Request) -> bool:
    """Whether a client of Anthropic's asks: both have the same path."""
    return "anthropic-version" in request.headers


class ModelList:
    """The ASGI endpoint of the list, and of each model in it."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        request = Request(scope, receive)
        anthropic = is_anthropic(request)
        try:
            models = await self._models(request)
            wanted = request.path_params.get("model")
            if wanted is not None:
                body = _one(models, str(wanted), anthropic)
            elif anthropic:
                body = _page(models, request.query_params)
            else:
                body = {"object": "list", "data": [_model(model, anthropic) for model in models]}
        except (BridgeError, RequestFault) as error:
            fault = fault_in(error)
            render = anthropic_error if anthropic else openai_error
            await send_json(send, render(fault), fault.status, headers_of_fault(fault))
            return
        await send_json(send, body)


def _page(models: Sequence[ListedModel], query: Mapping[str, str]) -> dict[str, Any]:
    part, more = page_of([model.id for model in models], query)
    shown = models[part]
    data = [_model(model, True) for model in shown]
    first, last = (shown[0].id, shown[-1].id) if shown else (None, None)
    return {"data": data, "has_more": more, "first_id": first, "last_id": last}


def _one(models: Sequence[ListedModel], wanted: str, anthropic: bool) -> dict[str, Any]:
    found = next((model for model in models if model.id == wanted), None)
    if found is None:
        why = f"The model {wanted[:200]!r} is not listed; GET /v1/models has those that are"
        raise RequestFault(why, status=404, code="model_not_found", param="model")
    return _model(found, anthropic)


def _model(model: ListedModel, anthropic: bool) -> dict[str, Any]:
    if anthropic:
        name = model.name or model.id
        known = {"created_at": _BEGIN, "lifecycle": "active"}
        return {"type": "model", "id": model.id, "display_name": name, **known}
    return {"id": model.id, "object": "model", "created": 0, "owned_by": model.owner}
