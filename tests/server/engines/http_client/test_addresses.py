"""Every address that is not public is refused, in whatever form it comes."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.http_client._addresses import embedded, reach
from toolspan_server.engines.http_client._hosts import Hosts

pytestmark = pytest.mark.requirement("I4.2.3", "I4.4.1")

PRIVATE = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
]
private = st.sampled_from(PRIVATE).flatmap(lambda block: st.ip_addresses(v=4, network=block))
FORMS = {
    "mapped": lambda number: (0xFFFF << 32) | number,
    "translated": lambda number: (0xFFFF << 48) | number,
    "compatible": lambda number: number,
    "NAT64": lambda number: (0x64FF9B << 96) | number,
    "local NAT64": lambda number: (0x64FF9B0001 << 80) | number,
    "6to4": lambda number: (0x2002 << 112) | (number << 80) | 1,
    "Teredo client": lambda number: (0x20010000 << 96) | (0x08080808 << 64) | (number ^ 0xFFFFFFFF),
    "Teredo server": lambda number: (0x20010000 << 96) | (number << 64),
    "ISATAP": lambda number: (0x2A00 << 112) | (0x5EFE << 32) | number,
    "ISATAP, global": lambda number: (0x2A00 << 112) | (0x02005EFE << 32) | number,
}


@given(private)
def test_a_private_address_is_refused(address: IPv4Address) -> None:
    assert reach(address) is not None


@pytest.mark.parametrize("form", FORMS)
@given(address=private)
def test_a_private_address_inside_another_is_refused(form: str, address: IPv4Address) -> None:
    assert reach(IPv6Address(FORMS[form](int(address)))) is not None


@pytest.mark.parametrize("form", ["mapped", "translated", "NAT64", "ISATAP"])
def test_a_public_address_inside_another_is_public(form: str) -> None:
    assert reach(IPv6Address(FORMS[form](int(IPv4Address("8.8.8.8"))))) is None


@given(st.ip_addresses(v=4))
def test_what_is_let_through_is_global(address: IPv4Address) -> None:
    if reach(address) is None:
        assert address.is_global and not address.is_multicast


@given(st.ip_addresses(v=6))
def test_what_is_let_through_of_ipv6_is_global(address: IPv6Address) -> None:
    if reach(address) is None and embedded(address) is None:
        assert address.is_global and not address.is_multicast


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("169.254.169.254", "link-local"),
        ("168.63.129.16", "cloud metadata"),
        ("fd00:ec2::254", "cloud metadata"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("fe80::1", "link-local"),
        ("ff02::1", "multicast"),
        ("4000::1", "not a public address"),
    ],
)
def test_the_reason_is_named(text: str, what: str) -> None:
    assert reach(ip_address(text)) == what


@pytest.mark.parametrize("text", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450::1"])
def test_a_public_address_is_let_through(text: str) -> None:
    assert reach(ip_address(text)) is None


def test_a_listed_network_opens_itself_alone() -> None:
    hosts = Hosts(private=("10.1.0.0/16",))
    assert hosts.refusal("a", IPv4Address("10.1.2.3")) is None
    assert hosts.refusal("a", IPv6Address("::ffff:10.1.2.3")) is None
    assert hosts.refusal("a", IPv4Address("10.2.0.1")) == "private"
    assert all(IPv4Address("10.2.0.1") not in IPv4Network(each) for each in hosts.private)


def test_a_listed_host_opens_private_addresses_and_no_metadata() -> None:
    hosts = Hosts(private=("*.corp.example", "localhost"))
    assert hosts.refusal("a.corp.example", IPv4Address("10.0.0.1")) is None
    assert hosts.refusal("localhost", IPv6Address("::1")) is None
    assert hosts.refusal("a.corp.example", IPv4Address("169.254.169.254")) == "link-local"
    assert hosts.refusal("corp.example", IPv4Address("10.0.0.1")) == "private"


@pytest.mark.parametrize(
    "host",
    [
        "example.com.evil.org",
        "evilexample.com",
        "example.com@evil.org",
        "xample.com",
        "example.co",
        "api.example.org",
        "",
        "examplexcom",
    ],
)
def test_no_other_host_passes_for_an_allowed_one(host: str) -> None:
    assert not Hosts(allowed=("example.com", "*.example.com")).allows(host)


def test_allowed_hosts_are_compared_without_case_and_final_dot() -> None:
    hosts = Hosts(allowed=("example.com", "*.bücher.example"))
    assert hosts.allows("EXAMPLE.com.") and hosts.allows("a.xn--bcher-kva.example")
    assert not hosts.allows("a.example.com") and not hosts.allows("xn--bcher-kva.example")
