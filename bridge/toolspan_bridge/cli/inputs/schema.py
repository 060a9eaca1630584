"""A JSON Schema in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ...errors import UsageError


def read_schema(path: Path) -> Mapping[str, Any]:
    """The object in the JSON file ``path``. Raises ``UsageError`` when there is none."""
    try:
        value = json.loads(path.read_bytes())
    except OSError as fault:
        raise UsageError(f"the schema {path} cannot be read: {fault.strerror}") from None
    except (ValueError, RecursionError) as fault:
        raise UsageError(f"the schema {path} is no JSON: {fault}") from None
    if not isinstance(value, dict):
        raise UsageError(f"the schema {path} must be a JSON object")
    return cast("Mapping[str, Any]", value)
