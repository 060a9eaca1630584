"""``toolspan servers login``: sign in to a remote server."""

from __future__ import annotations

import anyio
import click

from toolspan_server.engines.upstreams import ServerSpec

from ....errors import AuthError, UsageError
from ....oauth import SignInStore, SignInWay
from ....sessions.chosen.config import ConfigChoice
from ....sessions.chosen.target import CONNECT_SECONDS
from ....sessions.session import wires
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.options import config_options, debug_option, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, print_note
from ...terminal.questions.one_question import has_terminal
from ...terminal.sign_in import TerminalSignIn
from ...terminal.waiting.waits import waiting
from ._chosen import chosen_server, described


@click.command(name="login", cls=Verb, example="toolspan servers login NAME --device")
@click.argument("server", metavar="NAME|URL", shell_complete=completed.servers)
@click.option("--device", is_flag=True, help="Sign in on another device, by a code that is typed there.")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(1, 3_600),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the sign-in may take.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@config_options
@debug_option
@json_option
def command(
    server: str, device: bool, seconds: float, yes: bool, choice: ConfigChoice, as_json: bool
) -> None:
    """Sign in to the remote MCP server NAME of the config, or at URL.

    Says at which host, and for which scopes, and asks before a browser is opened. Without a browser here, or
    with --device, shows an address and a code for any other device. The tokens are kept in the system's
    keyring, or in a file of the user, and are used and renewed by all verbs. Exit 3 when it fails.
    """
    spec = chosen_server(choice, server)
    if not yes and not has_terminal():
        raise AuthError(
            "this needs a terminal to ask, so nobody was signed in: add --yes to sign in all the same"
        )
    way = SignInWay(TerminalSignIn(yes=yes), device, seconds, anew=True)
    with wires(choice, read_config(choice, needed=False), [spec], TERMINAL):
        anyio.run(_sign_in, spec, way, as_json)


async def _sign_in(spec: ServerSpec, way: SignInWay, as_json: bool) -> None:
    from ....oauth.login import login

    if spec.authorization is None and any(name.lower() == "authorization" for name in spec.headers):
        raise UsageError(f"{spec.name} has an Authorization header in the config, which is used instead")
    with waiting(f"the sign-in to {spec.name}"):
        done = await login(spec, way, SignInStore(), spec.connect_timeout or CONNECT_SECONDS)
    if as_json:
        emit_json(described(done.sign_in, done.place))
        return
    where = "the system's keyring" if done.place == "keyring" else "a file of yours, as there is no keyring"
    print_note(f"signed in to {spec.name} ({done.tools} tools); the tokens are in {where}")
