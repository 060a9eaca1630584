"""``toolspan gateway``: serve the API and the gateway, without the page."""

from __future__ import annotations

import click

from ...sessions.chosen.config import ConfigChoice
from ..inputs.options import (
    config_options,
    debug_option,
    locked_option,
    servers_option,
    tool_options,
    workspace_option,
)
from ..inputs.web_address import AddressChoice, address_options
from ..module_group import Verb
from ..terminal.output import print_message
from ..web import served


@click.command(name="gateway", cls=Verb, example="toolspan gateway -c toolspan.yaml --port 8809")
@address_options
@config_options
@locked_option
@debug_option
@workspace_option
@servers_option
@tool_options
def command(address: AddressChoice, choice: ConfigChoice) -> int:
    """Serve the gateway at /v1 and the API at /api, on one port of this machine, until Ctrl+C.

    It is what `toolspan ui` serves, without the page. The API is described at /api/docs.

    --host beyond this machine needs a token: auth in the config, or --token-env; or virtual keys, which are
    good for /v1 alone (web.keys: required); or --insecure.
    """

    def ready(authority: str) -> None:
        print_message(
            f"toolspan: the gateway is at http://{authority}/v1, the API's description at /api/docs", err=True
        )

    return served(choice, address, ready, page=False)
