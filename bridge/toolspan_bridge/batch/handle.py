"""What is needed to come back to a batch: plain data, without a secret.

In a file: ``{"toolspan_batch": 1, "provider": "openai", "id": "batch_1", "model": "gpt-5.5",
"format": "openai-responses", "ids": ["monday", "tuesday"]}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from toolspan_server.common.regular_files import read_regular

from ..errors import StoreError, UsageError
from ..files.replacement import replace_file
from ..providers.wire.json_types import is_list, is_object

__all__ = ["Batch"]

_MARK = "toolspan_batch"
_VERSION = 1
_MOST_BYTES = 64 * 1024 * 1024
_TEXTS = ("provider", "id", "model", "format")


@dataclass(frozen=True, slots=True)
class Batch:
    """A submitted batch: ``id`` at ``provider``, its requests' own ``ids`` in their order, the ``model`` that
    all are for, and the wire ``format`` that reads the answers.
    """

    provider: str
    id: str
    model: str
    format: str
    ids: tuple[str, ...]

    def to_json(self) -> bytes:
        """The handle as JSON. It holds no key and no address."""
        named = {name: getattr(self, name) for name in _TEXTS}
        return json.dumps({_MARK: _VERSION, **named, "ids": list(self.ids)}, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The handle in ``data``. Raises ``UsageError`` when it is none, or a newer version's."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise UsageError("it is no JSON") from None
        given: Mapping[str, Any] = value if is_object(value) else {}
        version = given.get(_MARK)
        if type(version) is not int or version < 1:
            raise UsageError("it is no saved batch")
        if version > _VERSION:
            raise UsageError(f"a newer toolspan saved it (version {version}, this one reads {_VERSION})")
        ids = given.get("ids")
        texts = [given.get(name) for name in _TEXTS] + (list(ids) if is_list(ids) else [None])
        found = [each for each in texts if isinstance(each, str)]
        if len(found) < len(texts):
            raise UsageError(f"a batch has {', '.join(_TEXTS)} and ids, all texts")
        provider, batch_id, model, wire_format, *own = found
        return cls(provider, batch_id, model, wire_format, tuple(own))

    def save(self, path: Path) -> None:
        """Put the handle into ``path``, whole or not at all. Raises ``StoreError`` when that fails."""
        try:
            replace_file(path.resolve(), self.to_json())
        except OSError as fault:
            raise StoreError(f"the batch cannot be saved as {path}: {fault.strerror}") from None

    @classmethod
    def load(cls, path: Path) -> Self:
        """The handle in ``path``. Raises ``UsageError`` when there is none that can be read."""
        try:
            return cls.from_json(read_regular(path, _MOST_BYTES))
        except OSError as fault:
            raise UsageError(f"the batch {path} cannot be read: {fault.strerror}") from None
        except UsageError as fault:
            raise UsageError(f"the batch {path} cannot be read: {fault}") from None
