"""The list of models, as OpenAI's and Anthropic's clients ask for it (``GET /v1/models``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....errors import BridgeError
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
            body = _listed(models, anthropic) if wanted is None else _one(models, str(wanted), anthropic)
        except (BridgeError, RequestFault) as error:
            fault = fault_in(error)
            render = anthropic_error if anthropic else openai_error
            await send_json(send, render(fault), fault.status, headers_of_fault(fault))
            return
        await send_json(send, body)


def _listed(models: Sequence[ListedModel], anthropic: bool) -> dict[str, Any]:
    data = [_model(model, anthropic) for model in models]
    if not anthropic:
        return {"object": "list", "data": data}
    ends = (
        {"first_id": models[0].id, "last_id": models[-1].id}
        if models
        else {"first_id": None, "last_id": None}
    )
    return {"data": data, "has_more": False, **ends}


def _one(models: Sequence[ListedModel], wanted: str, anthropic: bool) -> dict[str, Any]:
    found = next((model for model in models if model.id == wanted), None)
    if found is None:
        why = f"The model {wanted[:200]!r} is not listed; GET /v1/models has those that are"
        raise RequestFault(why, status=404, code="model_not_found", param="model")
    return _model(found, anthropic)


def _model(model: ListedModel, anthropic: bool) -> dict[str, Any]:
    if anthropic:
        name = model.name or model.id
        return {"type": "model", "id": model.id, "display_name": name, "created_at": _BEGIN}
    return {"id": model.id, "object": "model", "created": 0, "owned_by": model.owner}
