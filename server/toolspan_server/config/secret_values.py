"""The secrets of a loaded config: what the keys that are marked ``hidden`` where they are declared hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from ..common.secrets.key_shapes import SECRET_NAME, holds_key
from ..schema.records import NamedRecords, Record


def secret_values(record: Any, *, skip: tuple[str, ...] = ()) -> Iterator[str]:
    """The secret texts of ``record``, whose keys ``skip`` are left out, and of the records in it.

    Of an address they are its password and the values of its query, and of an object (``env``, ``headers``)
    what stands under a name of secrets: the rest of these occurs in harmless texts too.
    """
    if isinstance(record, NamedRecords):
        yield from secret_values(record.root)
    elif isinstance(record, Record):
        for name, key in type(record).model_fields.items():
            value = getattr(record, name)
            if value is None or name in skip:
                continue
            yield from _texts(value) if key.hidden else secret_values(value)
    elif isinstance(record, Mapping):
        for each in cast("Mapping[str, Any]", record).values():
            yield from secret_values(each)
    elif isinstance(record, tuple | list):
        for each in cast("list[Any]", record):
            yield from secret_values(each)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _in_address(value) if "://" in value else (value,)
    elif isinstance(value, Mapping):
        for name, each in cast("Mapping[str, Any]", value).items():
            if isinstance(each, str) and (SECRET_NAME.search(name) or holds_key(each)):
                yield from (each, each.partition(" ")[2] or each)
    elif isinstance(value, tuple | list):
        yield from (each for each in cast("list[Any]", value) if holds_key(str(each)))


def _in_address(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.password:
        yield from {parts.password, unquote(parts.password)}
    yield from (value for _, value in parse_qsl(parts.query))
