"""Which IP addresses a request may go to.

The blocks are those of the IANA IPv4 and IPv6 Special-Purpose Address Registries, and the addresses
under which clouds serve credentials to their machines.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_V4 = tuple(
    (IPv4Network(block), what)
    for block, what in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.100.100.200/32", "cloud metadata"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_V6 = tuple(
    (IPv6Network(block), what)
    for block, what in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "a local translation to IPv4"),
        ("100::/64", "discarded"),
        ("2001::/32", "Teredo, which embeds an IPv4 address"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "6to4, which embeds an IPv4 address"),
        ("3fff::/20", "for documentation"),
        ("5f00::/16", "for segment routing"),
        ("fd00:ec2::254/128", "cloud metadata"),
        ("fd20:ce::254/128", "cloud metadata"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_LAST_32_BITS = tuple(map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "::/96")))
"""Mapped (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052), compatible: IPv4 in the last bits."""
_ISATAP = (0x00005EFE, 0x02005EFE)
PRIVATE_USE = frozenset(("loopback", "private", "shared by a carrier"))
"""What a host that ``allow_private`` names may resolve to."""


def reach(address: Address) -> str | None:
    """Why ``address`` is no public one: ``loopback``, ``private`` …; ``None`` for one that is.

    An IPv4 address inside an IPv6 one counts by itself.
    """
    if isinstance(address, IPv4Address):
        return next((what for block, what in _V4 if address in block), None)
    for block, what in _V6:
        if address in block:
            return what
    if (inner := embedded(address)) is not None:
        return reach(inner)
    return None if address in _GLOBAL_V6 else "not a public address"


def embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that ``address`` is another form of, where its last 32 bits are one."""
    number = int(address)
    if any(address in block for block in _LAST_32_BITS) or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return IPv4Address(number & 0xFFFFFFFF)
    return None


def plain(address: Address) -> Address:
    """``address``; of one that is mapped into IPv6, the IPv4 address."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def network_of(text: str) -> Network | None:
    """``10.0.0.0/8`` or ``127.0.0.1`` as a network; ``None`` for anything else."""
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None
