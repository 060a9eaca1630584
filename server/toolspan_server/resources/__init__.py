"""Resources: the content that clients may read. ``Resources`` are those of a config, live.

The parts: ``contents`` (the keys of literals, files and globs, one module each), ``_entries`` (their live
objects), ``_templated`` (resource templates), ``_folder`` (files, read safely), ``_content`` (text or bytes),
``_watch`` (file changes), ``completions`` (values to offer). ``Resources`` is imported from ``live`` only
when a config has resources.
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
    """The live resources of ``config``, or ``None`` without any; ``earlier`` if these are unchanged."""
    if not config.resources and not config.resource_templates and config.skills is None:
        return None
    from .live import Resources

    if earlier is not None and earlier.serves(config):
        earlier.redact = config.redact
        earlier.redact_base64 = config.redact_base64
        return earlier
    return Resources(config)


def differing(before: Config, after: Config) -> Iterator[Change]:
    """The URIs of resources that differ between the two configs."""
    earlier = {each.uri: each for each in before.resources if not each.content.many}
    for each in after.resources:
        if each.uri in earlier and not is_same(earlier[each.uri], each):
            yield Change("resource", each.uri)
