"""HTTP clients without cookies: what a server sets in one principal's answer goes with nobody's request."""

from __future__ import annotations

from http.cookiejar import CookieJar
from typing import Any

from typing_extensions import override

__all__ = ["NoCookies"]


class NoCookies(CookieJar):
    """The ``cookies`` of every ``httpx2.AsyncClient`` here: it takes none and sends none."""

    @override
    def extract_cookies(self, response: Any, request: Any) -> None:
        """Leave those of ``response`` where they are."""

    @override
    def add_cookie_header(self, request: Any) -> None:
        """Add none to ``request``."""
