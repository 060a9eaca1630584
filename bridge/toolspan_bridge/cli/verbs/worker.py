"""``toolspan worker``: make the trials that ``validate --queue`` put on a queue."""

from __future__ import annotations

import anyio
import click

from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import opened
from ..host import TERMINAL
from ..inputs.options import config_options, debug_option, locked_option, tool_options
from ..inputs.store import store_option
from ..inputs.validation.run_options import SECONDS
from ..module_group import Verb


@click.command(
    name="worker", cls=Verb, example="toolspan worker --queue postgresql://toolspan@db.example/toolspan"
)
@click.option(
    "--queue",
    required=True,
    metavar="URL",
    envvar="TOOLSPAN_QUEUE",
    help="The queue, as validate --queue has it: postgresql://USER:PASSWORD@HOST/NAME. Default: "
    "$TOOLSPAN_QUEUE.",
)
@click.option(
    "--concurrency",
    metavar="N",
    type=click.IntRange(1, 1000),
    help="How many trials run at once here of each provider. Default: the config's validation.concurrency, "
    "else 16, and 2 for models on this machine or network.",
)
@click.option(
    "--lease",
    metavar="TIME",
    type=SECONDS,
    default=30.0,
    show_default="30s",
    help="After how long without a sign of life a worker's trials are given to others; the same for all "
    "workers.",
)
@config_options
@store_option
@locked_option
@debug_option
@tool_options
def command(queue: str, concurrency: int | None, lease: float, choice: ConfigChoice) -> int:
    """Make trials of validation that are on a queue, beside any number of other workers, until it is stopped.

    A worker has the config of the runs, and the keys of the providers in its own environment: none is on the
    queue. It takes no part in a run whose tools, models' versions or Toolspan are not its own, and says so
    here and where the run is followed.

    Ctrl+C or SIGTERM: trials that run have 8 seconds to end, what is left goes back to the queue; a second
    Ctrl+C gives them back at once. Exit 130 after Ctrl+C, 0 after SIGTERM. What a killed worker ran is made
    again by others, once its --lease is over.
    """
    from ..validating.working import worked

    async def work() -> int:
        async with opened(choice, TERMINAL) as session:
            return await worked(session, queue, concurrency, lease)

    return anyio.run(work)
