"""``toolspan conversations``: saved conversations."""

from __future__ import annotations

import click

from ...module_group import ModuleGroup


@click.group(cls=ModuleGroup, package=__name__, example="toolspan conversations list", name="conversations")
def command() -> None:
    """List, search, show, fork, export, replay, prune and delete the conversations that ask and chat saved.

    A conversation is named by the beginning of its id (four characters or more), or as `latest`.
    """
