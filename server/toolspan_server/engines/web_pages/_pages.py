"""Fetches pages and keeps those of the last minutes, for the user who asked."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

from ...errors import ToolFailure
from ..http_client import HttpClient, Policy, Request
from ..http_client._errors import bad_argument
from ..http_client._hosts import Hosts, url_problem
from ..http_client._retry import HttpRetry
from ._page import Page, page_of

_HEADERS = (
    ("Accept", "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1"),
    ("Accept-Encoding", "gzip, deflate"),
    ("User-Agent", "Mozilla/5.0 (compatible; toolspan)"),
)
_REFUSED = 400


@dataclass(frozen=True, slots=True)
class WebLimits:
    """How long a page may take in all, how large it may come, and how many are kept, and for how long.

    The names are those of the config, which errors give.
    """

    timeout_ms: int = 30_000
    max_response_bytes: int = 5_242_880
    cache_seconds: float = 900
    cache_bytes: int = 16_777_216


class WebPages:
    """Pages from ``hosts``, within ``limits``, by ``client``."""

    def __init__(self, client: HttpClient, hosts: Hosts, limits: WebLimits) -> None:
        self._client = client
        self._hosts = hosts
        self._limits = limits
        self._kept: OrderedDict[tuple[str, str], tuple[float, Page]] = OrderedDict()
        self._size = 0

    async def page(self, url: str, user: str) -> tuple[Page, bool]:
        """The page at ``url``, and whether it was kept from before for ``user``: nobody learns what others
        read. Raises ``ToolFailure``."""
        address, _ = self.asked(url)
        key = user, address
        if (kept := self._kept.get(key)) is not None:
            if time.monotonic() - kept[0] < self._limits.cache_seconds:
                self._kept.move_to_end(key)
                return kept[1], True
            self._drop(key)
        page = await self._fetched(address)
        self._keep(key, page)
        return page, False

    def asked(self, url: str) -> tuple[str, str]:
        """The address that is asked for ``url``, and its host. Raises ``ToolFailure`` for one that is not
        asked."""
        address = url.partition("#")[0]
        if (problem := url_problem(address)) is not None:
            raise bad_argument("url", problem)
        host = _host(address)
        if not self._hosts.allows(host):
            raise ToolFailure(
                f"{host} is not one of the hosts that may be read: allowed_domains",
                error_code="blocked_host",
                user_action="If it is meant, add the host to web_fetch.allowed_domains in the config.",
            )
        return address, host

    async def _fetched(self, url: str) -> Page:
        policy = Policy(
            hosts=self._hosts,
            retry=HttpRetry(max_attempts=1),
            timeout_ms=self._limits.timeout_ms,
            max_bytes=self._limits.max_response_bytes,
            owner="WebFetch",
        )
        response = await self._client.send(Request("GET", url, _HEADERS), policy)
        if response.status >= _REFUSED:
            raise ToolFailure(
                f"{response.url[:300]} answered with HTTP {response.status}",
                error_code=f"http_{response.status}",
                user_action="Check the address, or fetch another one.",
                upstream_status=response.status,
            )
        return await page_of(response)

    def _keep(self, key: tuple[str, str], page: Page) -> None:
        if key in self._kept:  # it was fetched twice at the same time
            self._drop(key)
        self._kept[key] = (time.monotonic(), page)
        self._size += _size(page)
        while self._size > self._limits.cache_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, str]) -> None:
        self._size -= _size(self._kept.pop(key)[1])


def _size(page: Page) -> int:
    return len(page.text) * 4


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or ""
