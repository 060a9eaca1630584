"""A person with a browser, who agrees to everything."""

from __future__ import annotations

import httpx2

from toolspan_bridge.oauth import DeviceCode, SignInRequest

_SECONDS = 30.0


class Browser:
    """Opens an address and follows where it leads, as a browser does."""

    has_browser = True

    async def allows(self, request: SignInRequest) -> bool:
        """Yes."""
        return True

    async def open(self, url: str, seconds: float) -> None:
        """Open ``url``; in the end it comes back to this machine."""
        async with httpx2.AsyncClient(follow_redirects=True, timeout=_SECONDS) as client:
            await client.get(url)

    async def show_code(self, code: DeviceCode) -> None:
        """No scenario shows a code."""
        raise NotImplementedError(f"{code.url} wants a code")
