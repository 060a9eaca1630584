"""A page that a server wants to have visited."""

from __future__ import annotations

import webbrowser

import anyio.to_thread

from ....client import Elicitation, Elicited
from ..choices import print_choices
from ..output import print_coloured, print_note
from ..questions.one_question import read_key
from .address import Address


async def visited(question: Elicitation) -> Elicited:
    """The person's answer; the page is opened after a yes, never before. Where the call is made again after
    it, the person says when they are done there. Raises ``EOFError`` and ``KeyboardInterrupt``."""
    address = Address(question.url)
    wants = "wants you to visit a page" + (" before it goes on" if question.precedes_call else "")
    print_coloured([(f"{question.tool} of the server {question.server!r} {wants}:", "yellow")])
    print_coloured([("  " + line, None) for line in question.message.splitlines()])
    print_coloured([(f"  host: {address.host}", "cyan"), (f"  {question.url}", None)])
    print_coloured([("  " + warning, "red") for warning in address.warnings])
    print_choices({"y": "open it in the browser", "n": "no"})
    if await read_key("open? ", "yn") == "n":
        return Elicited("decline")
    if not await anyio.to_thread.run_sync(webbrowser.open, address.ascii):
        print_note(f"no browser could be started: visit {address.ascii}")
    return await _done() if question.precedes_call else Elicited("accept")


async def _done() -> Elicited:
    print_coloured([("  [Enter] when you are done there  [n] give up", None)])
    key = await read_key("done? ", ("", "y", "n"))
    return Elicited("decline") if key == "n" else Elicited("accept", done=True)
