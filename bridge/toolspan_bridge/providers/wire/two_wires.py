"""A provider with two wire formats: a model that does not take the one is asked by the other.

OpenAI's models differ in that. Some take no tools by Chat Completions or are not there at all, others are not
served by Responses. The provider's refusal says so, before anything was answered: the same request is then
sent once more in the other format, whole, and the model is asked in that one from then on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Self

from ...errors import ProviderError
from ...formats import builtin_names
from ...messages import Reply, Request
from ...messages.deltas import Delta
from .model_facts import ModelFacts
from .provider import WireProvider
from .replies import with_notes
from .wire_request import WireRequest

if TYPE_CHECKING:
    from .recording import Recorder

PreferSecond = Callable[[str], bool]
"""Whether a model is known to be asked by the second of two formats."""


class TwoWires:
    """``first`` and ``second`` are the same provider in two formats; ``prefers_second`` chooses for models
    that are known, others are asked by ``first`` until it refuses them.

    A provider as any other (``Provider``), with the list of models of ``first``.
    """

    def __init__(
        self, first: WireProvider, second: WireProvider, prefers_second: PreferSecond = lambda model: False
    ) -> None:
        self.name = first.name
        self._first = first
        self._second = second
        self._prefers_second = prefers_second
        self._known: dict[str, WireProvider] = {}

    @property
    def searches_tools(self) -> bool:
        """Whether models can search among the tools of a request."""
        return self._first.searches_tools

    @property
    def price_share(self) -> float:
        """The share of a model's listed price that a request costs."""
        return self._first.price_share

    @property
    def format_name(self) -> str:
        """The format of models of which nothing is known."""
        return self._first.format_name

    def wire_for(self, model: str) -> WireProvider:
        """The provider in the format in which ``model`` is asked."""
        chosen = self._second if self._prefers_second(model) else self._first
        return self._known.get(model, chosen)

    def formats_for(self, model: str) -> tuple[str, str]:
        """Both formats, the one in which ``model`` is asked first."""
        wire = self.wire_for(model)
        return wire.format_name, self._other(wire).format_name

    def in_format(self, name: str) -> WireProvider:
        """The provider in the format ``name``. Raises ``KeyError`` when it is neither of the two."""
        return {wire.format_name: wire for wire in (self._first, self._second)}[name]

    def prompted(self, wording: str = "") -> Self:
        """The same provider with tools described in the prompt, as ``WireProvider.prompted``."""
        self._first.prompted(wording)
        self._second.prompted(wording)
        return self

    def rendered(self, rendering: str) -> Self:
        """The same provider with calls that were written as text in ``rendering``, as
        ``WireProvider.rendered``."""
        self._first.rendered(rendering)
        self._second.rendered(rendering)
        return self

    def recorded(self, recorder: Recorder) -> None:
        """From now on, write each exchange in either format by ``recorder``."""
        self._first.recorded(recorder)
        self._second.recorded(recorder)

    async def sent(self, request: Request) -> WireRequest:
        """``request`` as it would be on the wire, without sending it."""
        return await self.wire_for(request.model).sent(request)

    async def answer(self, request: Request) -> Reply:
        """One answer of the provider. Raises as ``Provider.answer``."""
        wire = self.wire_for(request.model)
        try:
            return await wire.answer(request)
        except ProviderError as error:
            refusal = _wrong_wire(error)
        other = self._other(wire)
        try:
            reply = await other.answer(request)
        except ProviderError as error:
            raise _clearer(refusal, error) from None
        return self._changed(reply, request, other)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The answer, streamed; the format changes only before its first item. Raises as
        ``Provider.answer``."""
        wire = self.wire_for(request.model)
        begun = False
        try:
            async with aclosing(wire.stream(request)) as items:
                async for item in items:
                    begun = True
                    yield item
            return
        except ProviderError as error:
            if begun:
                raise
            refusal = _wrong_wire(error)
        other = self._other(wire)
        try:
            async with aclosing(other.stream(request)) as items:
                async for item in items:
                    yield self._changed(item, request, other) if isinstance(item, Reply) else item
        except ProviderError as error:
            raise _clearer(refusal, error) from None

    async def models(self) -> tuple[ModelFacts, ...]:
        """The models that the provider lists, as ``WireProvider.models``."""
        return await self._first.models()

    async def aclose(self) -> None:
        """Close the connections of both."""
        async with AsyncExitStack() as both:
            both.push_async_callback(self._first.aclose)
            both.push_async_callback(self._second.aclose)

    def _other(self, wire: WireProvider) -> WireProvider:
        return self._second if wire is self._first else self._first

    def _changed(self, reply: Reply, request: Request, wire: WireProvider) -> Reply:
        """``reply`` with a note, and the wire remembered."""
        self._known[request.model] = wire
        note = f"{self.name} answers for {request.model} by {wire.format_name}: it is asked by that now"
        left_out = set(request.builtins) - builtin_names(wire.format_name)
        if left_out:
            note += f", which has no built-in {', '.join(sorted(left_out))}"
        return with_notes(reply, (note,))


def _wrong_wire(error: ProviderError) -> ProviderError:
    """``error``, if it says that the model wants the other format. Raises it if not."""
    if error.fault != "wrong_wire":
        raise error
    return error


def _clearer(refusal: ProviderError, error: ProviderError) -> ProviderError:
    """The one to raise when neither format helped: the first when the second only sends back to it."""
    return refusal if error.fault == "wrong_wire" else error
