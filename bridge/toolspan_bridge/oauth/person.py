"""Who signs in: what a person is told and asked, how they are led to the authorization server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """What a person is asked to allow: to sign in at ``issuer``, so that the MCP server at the URL ``server``
    gets ``scopes`` of them. ``has_signed_in``: they did before, and now the server wants more, or again.
    """

    name: str
    server: str
    issuer: str
    scopes: tuple[str, ...]
    has_signed_in: bool = False


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """What a person does on any device: open ``url`` and type ``code`` there, within ``seconds``.
    ``whole_url`` is the address that has the code in it, where there is one."""

    url: str
    code: str
    seconds: float
    whole_url: str = ""


class SignInPerson(Protocol):
    """The person who may sign in."""

    @property
    def has_browser(self) -> bool:
        """Whether a browser can be opened here, which comes back to this machine."""
        ...

    async def allows(self, request: SignInRequest) -> bool:
        """Whether the person wants to sign in."""
        ...

    async def open(self, url: str, seconds: float) -> None:
        """Open ``url`` in the person's browser, and tell them; they have ``seconds``."""
        ...

    async def show_code(self, code: DeviceCode) -> None:
        """Tell the person which address to open, and the code to type there."""
        ...


SECONDS = 300.0
"""How long a person has to sign in."""


@dataclass(frozen=True, slots=True)
class SignInWay:
    """How to sign in, where that is wanted: ``person`` is asked first; without one nobody signs in, and kept
    tokens are all there is. ``device``: on another device, not in a browser here. ``seconds`` is the person's
    time. ``anew``: as if nothing were kept.
    """

    person: SignInPerson | None = None
    device: bool = False
    seconds: float = SECONDS
    anew: bool = False
