"""Signing in to remote servers at the terminal: what a person is told and asked, and the browser."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from .output import print_note
from .questions.one_question import has_terminal, one_question, read_line

if TYPE_CHECKING:
    from ...oauth import DeviceCode, SignInRequest

_OPEN_SECONDS = 10.0


class TerminalSignIn:
    """The person at the terminal. With ``yes`` they said so beforehand, and are only told."""

    def __init__(self, *, yes: bool = False) -> None:
        self._yes = yes

    @property
    def has_browser(self) -> bool:
        """Whether there is a browser that can come back here: $BROWSER, or one on this machine's screen."""
        if os.environ.get("BROWSER"):
            return True
        if os.environ.get("SSH_CONNECTION"):
            return False
        has_screen = sys.platform in ("darwin", "win32") or any(
            os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
        )
        return has_screen and _finds_browser()

    async def allows(self, request: SignInRequest) -> bool:
        """Tell who wants what, and ask. Ctrl+D is a no."""
        again = " again" if request.has_signed_in else ""
        scopes = ", ".join(request.scopes) or "whatever it gives by default"
        try:
            async with one_question():
                print_note(
                    f"{request.name} wants you to sign in{again}\n"
                    f"server:   {request.server}\n"
                    f"sign-in:  {request.issuer}\n"
                    f"scopes:   {scopes}"
                )
                return self._yes or (await read_line("sign in? [y/N] ")).strip().lower() in ("y", "yes")
        except EOFError:
            return False

    async def open(self, url: str, seconds: float) -> None:
        """Open the browser; the address is shown too, for when that does not work."""
        hint = "if it does not open, go to this address on this machine"
        print_note(f"opening the browser; {hint} within {seconds:g} s:\n{url}")
        if self.has_browser:
            with anyio.move_on_after(_OPEN_SECONDS):
                await anyio.to_thread.run_sync(_open, url, abandon_on_cancel=True)

    async def show_code(self, code: DeviceCode) -> None:
        """Show the address and the code."""
        whole = f"\nor open:  {code.whole_url}" if code.whole_url else ""
        print_note(
            f"sign in on any device within {code.seconds:g} s\n"
            f"open:     {code.url}\n"
            f"code:     {code.code}{whole}"
        )


def person_here() -> TerminalSignIn | None:
    """The person at the terminal, if there is one."""
    return TerminalSignIn() if has_terminal() else None


def _finds_browser() -> bool:
    import webbrowser

    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _open(url: str) -> None:
    import webbrowser

    try:
        webbrowser.open(url)
    except webbrowser.Error as error:
        print_note(f"the browser does not open: {error}")
