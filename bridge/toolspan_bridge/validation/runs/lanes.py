"""How many trials run at once: of each provider as many as serve it, whatever the others do."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlsplit

from ...errors import BridgeError
from .plan import Cell, Plan
from .scheduler import Lane

__all__ = ["Concurrency", "Served", "ServedOf", "lanes_of"]

HOSTED, LOCAL, ALONE = 16, 2, 1


@dataclass(frozen=True, slots=True)
class Served:
    """Where a model is asked: the ``provider``'s name, and the ``account`` (address and key) whose requests
    are counted together."""

    provider: str
    account: str = ""
    base_url: str = ""

    @property
    def usual(self) -> int:
        """How many trials are usually run at once: few where the model runs on a machine nearby, one where
        the replies are a script."""
        if self.provider == "scripted":
            return ALONE
        return LOCAL if _is_near(urlsplit(self.base_url).hostname or "") else HOSTED


ServedOf = Callable[[str], Awaitable[Served]]
"""Where a model (``provider/model``) is asked. Raises ``BridgeError`` where it cannot be."""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How many trials run at once: ``everywhere`` of each provider, else as ``by_provider`` names, else as is
    usual. 1 everywhere means one after another, whatever the provider."""

    everywhere: int | None = None
    by_provider: Mapping[str, int] | None = None

    def of(self, served: Served) -> int:
        """How many trials run at once there."""
        named = (self.by_provider or {}).get(served.provider)
        return self.everywhere or named or served.usual


async def lanes_of(
    plan: Plan, done: Collection[int], concurrency: Concurrency, served_of: ServedOf | None
) -> list[Lane]:
    """What is left of ``plan`` once the numbers ``done`` are, as lanes: one for each account."""
    if concurrency.everywhere == 1:
        return [Lane(_left(plan, plan.models, done), 1)]
    lanes: dict[str, tuple[int, list[str]]] = {}
    for model in plan.models:
        served = await _served(model, served_of)
        key = served.account or served.provider
        lanes.setdefault(key, (concurrency.of(served), []))[1].append(model)
    return [Lane(_left(plan, models, done), slots) for slots, models in lanes.values()]


def _left(plan: Plan, models: Sequence[str], done: Collection[int]) -> Iterator[Cell]:
    cells = chain.from_iterable(plan.cells(model) for model in models)
    return (cell for cell in cells if cell.number not in done)


async def _served(model: str, served_of: ServedOf | None) -> Served:
    name = model.partition("/")[0].rpartition(":")[2]
    if served_of is None:
        return Served(name)
    try:
        return await served_of(model)
    except BridgeError:
        return Served(name)  # its first trial meets the same error, which then is the model's


def _is_near(host: str) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
