"""Which connections are open: how many in all and of one address, and which one makes room for another.

A connection that asks nothing costs its client next to nothing, so it must not keep another out: when no
place is left, the oldest that has sent no whole head goes, then the one that has been idle for the longest,
then the oldest whose body is still on its way; these two only after a second.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from ...asgi import RefusedResponse

if TYPE_CHECKING:
    from ....config import LimitsConfig


class Connected(Protocol):
    """A connection, as far as its place is concerned."""

    def dispensable(self) -> tuple[int, float] | None:
        """How easily it is spared, the smaller the more easily; ``None``: it is not."""
        ...

    def make_room(self) -> None:
        """Close, for another connection."""
        ...


class Admission:
    """The connections that are open, within ``limits.connections`` and ``limits.connections_per_address``.

    Without the latter, half of the connections may be of one address; of loopback, where a proxy makes
    everybody look the same, all.
    """

    def __init__(self, limits: LimitsConfig) -> None:
        self._most = limits.connections
        self._most_of_one = limits.connections_per_address
        self._network_of: dict[Connected, str] = {}
        self._count_of: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._network_of)

    def admit(self, connection: Connected, address: str) -> RefusedResponse | None:
        """Take ``connection``, of a client at ``address``; or why there is no place for it."""
        network = network_of(address)
        self._network_of[connection] = network
        self._count_of[network] += 1
        share = self._share(network)
        over = share < self._most and self._count_of[network] > share
        if over and not self._makes_room(connection, network):
            return RefusedResponse(
                503, f"One address may have {share} connections at once (limits.connections_per_address)"
            )
        if len(self) > self._most and not self._makes_room(connection):
            return RefusedResponse(
                503, f"This server takes {self._most} connections at once (limits.connections)"
            )
        return None

    def leave(self, connection: Connected) -> None:
        """The place of ``connection`` is free, if it had one."""
        network = self._network_of.pop(connection, None)
        if network is not None:
            self._count_of[network] -= 1
            if not self._count_of[network]:
                del self._count_of[network]

    def _makes_room(self, newest: Connected, network: str | None = None) -> bool:
        """Whether one does, of those of ``network`` if that is given."""
        others = (
            each
            for each, its in self._network_of.items()
            if each is not newest and (network is None or its == network)
        )
        ranked = ((rank, each) for each in others if (rank := each.dispensable()) is not None)
        found = min(ranked, key=itemgetter(0), default=None)
        if found is None:
            return False
        found[1].make_room()
        return True

    def _share(self, network: str) -> int:
        if self._most_of_one is not None:
            return self._most_of_one
        return self._most if _is_loopback(network) else max(1, self._most // 2)


def network_of(address: str) -> str:
    """What counts as one address: an IPv4 address; of IPv6 a /64, which is the least that one client has."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return "::1" if found.is_loopback else str(ipaddress.ip_network((found, 64), strict=False))


def _is_loopback(network: str) -> bool:
    return network == "::1" or network.startswith("127.")
