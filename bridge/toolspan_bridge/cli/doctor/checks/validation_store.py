"""The validation store: can it be reached, and how much is in it?"""

from __future__ import annotations

from ....errors import StoreError
from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 95


async def check(around: Surroundings) -> list[Finding]:
    """The store of the config, read as it is: none is made."""
    import anyio.to_thread

    from ....validation import read_records
    from ....validation.storage.places import place_of
    from ....validation.stores import store_of

    if around.error is not None:
        return []
    if around.withholds("validation"):
        return [warning("the validation store was not looked at: nobody trusts this folder", "add --trust")]
    try:
        shown = place_of(store_of(around.config)).shown
        records = await anyio.to_thread.run_sync(read_records, store_of(around.config))
    except StoreError as error:
        return [problem(error.message, "correct validation.store in the config, or the database", 4)]
    count = sum(record.counts.tried for record in records)
    if not records:
        return [ok(f"the validation store {shown} has no trials yet")]
    return [ok(f"the validation store {shown} has {count:,} trial{'' if count == 1 else 's'}")]
