"""``toolspan ui``: serve the page, the API and the gateway."""

from __future__ import annotations

import sys

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


@click.command(name="ui", cls=Verb, example="toolspan ui -c toolspan.yaml")
@click.option("--no-open", is_flag=True, help="Open no browser; the address is printed either way.")
@address_options
@config_options
@locked_option
@debug_option
@workspace_option
@servers_option
@tool_options
def command(no_open: bool, address: AddressChoice, choice: ConfigChoice) -> int:
    """Serve the page, the API at /api and the gateway at /v1, on one port of this machine, until Ctrl+C.

    The page has the tools to try, chats, presets, validation, servers, the config and what happens. The API
    is described at /api/docs. Changes of the config are applied while it runs.

    --host beyond this machine needs a token: auth in the config, or --token-env; or virtual keys, which are
    good for /v1 alone (web.keys: required); or --insecure.
    """

    def ready(authority: str) -> None:
        page, docs = f"http://{authority}/", f"http://{authority}/api/docs"
        print_message(f"toolspan: the page is at {page}, the API's description at {docs}", err=True)
        if not no_open and sys.stderr.isatty():
            click.launch(f"http://{authority}/")

    return served(choice, address, ready, page=True)
