"""The options about calls that a person has to allow."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, get_args

import click

from ...approvals import Policy
from ...sessions.chosen.approvals import ApprovalChoice


def approval_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--approval`` and ``--approve``, given to ``function`` as ``approvals``."""

    @wraps(function)
    def chosen(*args: Any, approval: Policy | None, approve: tuple[str, ...], **options: Any) -> Any:
        return function(*args, approvals=ApprovalChoice(approval, approve), **options)

    policy = click.option(
        "--approval",
        type=click.Choice(get_args(Policy)),
        help="Which calls a person has to allow; destructive: those of tools that say that they are, or need "
        "approval, and Write, Edit, Bash, NotebookEdit. Default: the config's, else destructive.",
    )
    approve = click.option(
        "--approve",
        multiple=True,
        metavar="PATTERN",
        help="Allow calls of these tools without asking: a glob of names, as Write or files/*, the server "
        "before the slash; may repeat. What nobody can be asked about, for want of a terminal, is denied.",
    )
    return policy(approve(chosen))
