"""Previews a request to a provider without sending it: keys stay variables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace

from ..errors import UsageError
from ..formats import get_format
from ..formats.names import NameTable
from ..messages import Request
from .contract import Provider
from .resolve import OWN_MODELS, OwnProviders, resolve_model, split_model
from .settings.environment import keys_as_variables
from .wire.provider import WireProvider
from .wire.two_wires import TwoWires
from .wire.wire_request import WireRequest, encode

Own = OwnProviders
"""The config's own providers (``own_providers``)."""

_ALWAYS = ("AWS_BEARER_TOKEN_BEDROCK",)


@dataclass(frozen=True, slots=True)
class Preview:
    """A request as it would be sent; in its headers ``$NAME`` stands for the key in each of ``variables``."""

    sent: WireRequest
    variables: Collection[str]


def formats_of(model: str, own: Own | None = None) -> tuple[str, ...]:
    """The wire formats of the provider of ``provider/model``, the one in which the model is asked first.
    Needs no key.

    Raises ``UsageError`` when the name is unknown or the provider works without requests.
    """
    with keys_as_variables(_ALWAYS):
        provider, name = _connect(model, own)
        return provider.formats_for(name) if isinstance(provider, TwoWires) else (provider.format_name,)


def searches_tools(model: str, own: Own | None = None) -> bool:
    """Whether the provider of ``provider/model`` searches the tools of a request, where its format has that.

    Needs no key. Raises as ``formats_of``.
    """
    with keys_as_variables(_ALWAYS):
        return _connect(model, own)[0].searches_tools


async def preview(
    model: str, request: Request, own: Own | None = None, wire_format: str | None = None
) -> Preview:
    """``request``, for ``model`` (written ``provider/model``), as that provider would receive it, in
    ``wire_format`` where it has several.

    Ollama is asked for the model's context length, because that changes the request. Raises ``UsageError``
    as ``formats_of``, ``UnreachableError`` when Ollama does not answer.
    """
    with keys_as_variables(_ALWAYS) as used:
        provider, name = _connect(model, own)
        async with aclosing(provider):
            chosen = provider
            if isinstance(provider, TwoWires) and wire_format is not None:
                chosen = provider.in_format(wire_format)
            return Preview(await chosen.sent(replace(request, model=name)), used)


async def unsent(provider: Provider, request: Request) -> WireRequest | None:
    """``request`` as ``provider`` would send it, without asking anybody anything: where the server would be
    asked about its model first, as the format alone writes it, without an address. ``None`` of a provider
    that answers without requests.
    """
    if not isinstance(provider, WireProvider | TwoWires):
        return None
    wire = provider.wire_for(request.model) if isinstance(provider, TwoWires) else provider
    if not wire.asks_first:
        return await wire.sent(request)
    body = get_format(wire.format_name).render_request(request, NameTable.of(request.tools))
    return WireRequest("", {}, encode(body))


@contextmanager
def shown_keys() -> Generator[Collection[str]]:
    """Within it, providers are connected with ``$NAME`` for their keys: to be shown, not asked. Yields the
    names that are used."""
    with keys_as_variables(_ALWAYS) as used:
        yield used


def _connect(model: str, own: Own | None) -> tuple[WireProvider | TwoWires, str]:
    provider, name = resolve_model(model, own=own)
    if provider.name == OWN_MODELS:
        raise UsageError(f"{model} stands for several deployments: name one of them")
    if not isinstance(provider, WireProvider | TwoWires):
        raise UsageError(
            f"{split_model(model, own or ())[0]} answers without any request: name another provider's model"
        )
    return provider, name
