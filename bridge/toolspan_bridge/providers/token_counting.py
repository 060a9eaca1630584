"""The tokens of a request by its provider's own count, where it has one."""

from __future__ import annotations

from ..errors import UsageError
from ..messages import Request
from .contract import Provider
from .wire.token_counts import CountsTokens
from .wire.two_wires import TwoWires


async def count_tokens(provider: Provider, request: Request) -> int:
    """The tokens that ``request`` has as input: of its messages, tools and system prompt.

    Nothing is answered, and at most providers nothing is billed. Raises ``UsageError`` where the provider has
    no endpoint for it, and as ``Provider.answer``.
    """
    wire = provider.wire_for(request.model) if isinstance(provider, TwoWires) else provider
    if isinstance(wire, CountsTokens):
        return await wire.count_tokens(request)
    by = f" in the format {wire.format_name}" if isinstance(provider, TwoWires) else ""
    raise UsageError(
        f"{provider.name} has no endpoint that counts the tokens of a request{by}: "
        "ask, and the usage of the answer tells them"
    )
