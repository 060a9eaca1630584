"""``toolspan servers logout``: forget the sign-in to a remote server."""

from __future__ import annotations

import anyio
import click

from ....errors import UsageError
from ....oauth import SignInStore
from ....sessions.chosen.config import ConfigChoice
from ....sessions.session import wires
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.options import config_options, debug_option, read_config
from ...module_group import Verb
from ...terminal.output import print_note
from ...terminal.waiting.waits import waiting
from ._chosen import chosen_server


@click.command(name="logout", cls=Verb, example="toolspan servers logout NAME")
@click.argument("server", metavar="NAME|URL", shell_complete=completed.servers)
@config_options
@debug_option
def command(server: str, choice: ConfigChoice) -> None:
    """Forget the tokens for the server NAME of the config, or at URL, and have them revoked.

    Says when the authorization server does not revoke them: they are good there until they end.
    """
    anyio.run(_sign_out, server, choice)


async def _sign_out(server: str, choice: ConfigChoice) -> None:
    from ....oauth.login import logout

    spec = chosen_server(choice, server)
    shown = wires(choice, read_config(choice, needed=False), [spec], TERMINAL)
    with shown, waiting(f"the sign-in's end at {spec.name}"):
        was_there, left = await logout(spec, SignInStore())
    if not was_there:
        raise UsageError(f"nobody is signed in to {spec.name} (toolspan servers status lists the sign-ins)")
    print_note(f"signed out of {spec.name}")
    if left:
        print_note(f"its tokens were not revoked, and are good until they end: {left}")
