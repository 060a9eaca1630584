"""Resources: what clients may read. ``Resources`` are those of a config, alive.

What stands behind it: ``contents`` (the keys of literals, files and globs, a module each), ``_entries``
(what is live of them), ``_made`` (templates), ``_folder`` (files, read so that none can do harm),
``_content`` (text or bytes), ``_watch`` (when files change), ``completions`` (values to offer).
``Resources`` is imported from ``live`` where a config has some: nothing else is needed for a config without.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..common.changes import Change
from ..schema.records import is_same

if TYPE_CHECKING:
    from ..config import Config
    from .live import Resources

__all__ = ["differing", "resources_of"]


def resources_of(config: Config, earlier: Resources | None = None) -> Resources | None:
    """The live resources of ``config``, or ``None`` when it has none; ``earlier`` where it says the same."""
    if not config.resources and not config.resource_templates and config.skills is None:
        return None
    from .live import Resources

    if earlier is not None and earlier.serves(config):
        earlier.redact = config.redact
        earlier.redact_base64 = config.redact_base64
        return earlier
    return Resources(config)


def differing(before: Config, after: Config) -> Iterator[Change]:
    """The resources of which the two configs say something else."""
    earlier = {each.uri: each for each in before.resources if not each.content.many}
    for each in after.resources:
        if each.uri in earlier and not is_same(earlier[each.uri], each):
            yield Change("resource", each.uri)
