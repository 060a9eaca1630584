"""The open connections: how many in total and of one address, and which one is closed for a new one.

A connection without a request costs its client next to nothing, so it must not block others: when none is
free, the oldest without a complete head is closed, else the one that has been idle the longest, else, after
a second, the oldest whose body is still arriving. A connection whose next request has arrived is spared.
"""

from __future__ import annotations

import heapq
import ipaddress
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from ..asgi import RefusedResponse

if TYPE_CHECKING:
    from ...config import LimitsConfig


class Connected(Protocol):
    """A connection, as seen by the admission."""

    def dispensable(self) -> tuple[int, float] | None:
        """The priority for being closed, the lowest first; ``None``: not to be closed."""
        ...

    def has_unread_input(self) -> bool:
        """Whether the client has sent something that was not read yet."""
        ...

    def make_room(self) -> None:
        """Close, to make room for another connection."""
        ...


class Admission:
    """The open connections, within ``limits.connections`` and ``limits.connections_per_address``.

    Without the latter, one address may have half of the connections; loopback, where a proxy gives all
    clients the same address, may have all.
    """

    def __init__(self, limits: LimitsConfig) -> None:
        self._most = limits.connections
        self._most_of_one = limits.connections_per_address
        self._network_of: dict[Connected, str] = {}
        self._count_of: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._network_of)

    def admit(self, connection: Connected, address: str) -> RefusedResponse | None:
        """Admit ``connection``, of a client at ``address``; returns the reason when there is no room."""
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
        """Free the place of ``connection``, if it had one."""
        network = self._network_of.pop(connection, None)
        if network is not None:
            self._count_of[network] -= 1
            if not self._count_of[network]:
                del self._count_of[network]

    def _makes_room(self, newest: Connected, network: str | None = None) -> bool:
        """Close a connection, of ``network`` if given; returns whether there was one to close."""
        others = (
            each
            for each, its in self._network_of.items()
            if each is not newest and (network is None or its == network)
        )
        ranked = [(rank, id(each), each) for each in others if (rank := each.dispensable()) is not None]
        heapq.heapify(ranked)
        while ranked:
            connection = heapq.heappop(ranked)[2]
            if not connection.has_unread_input():
                connection.make_room()
                return True
        return False

    def _share(self, network: str) -> int:
        if self._most_of_one is not None:
            return self._most_of_one
        return self._most if _is_loopback(network) else max(1, self._most // 2)


def network_of(address: str) -> str:
    """The unit that counts as one address: an IPv4 address; of IPv6 a /64, the least that one client has."""
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
