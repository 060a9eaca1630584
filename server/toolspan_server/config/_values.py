"""Numbers and booleans of a config: exact types within their ranges, or spelled by a variable."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ._interpolate import FromVariable
from ._problems import Path


def _from_variable(value: Any, info: ValidationInfo) -> Any:
    """What ``${VAR}`` gave as text becomes the number or boolean that it spells; nothing else does."""
    if not isinstance(value, FromVariable):
        return value
    converted = cast("object", info.context)
    if isinstance(converted, set):
        cast("set[Path]", converted).add(value.path)
    return value.spelled


class _OrReference:
    """In the published schema, a reference may stand where a number or boolean is wanted."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "string", "pattern": r"\$\{"}]}


_convert = BeforeValidator(_from_variable)
_or_reference = _OrReference()
Flag = Annotated[bool, Field(strict=True), _convert, _or_reference]
Count = Annotated[int, Field(strict=True, ge=1), _convert, _or_reference]
Iterations = Annotated[int, Field(strict=True, ge=1, le=100), _convert, _or_reference]
Milliseconds = Annotated[int, Field(strict=True, ge=1, le=3_600_000), _convert, _or_reference]
ResultBytes = Annotated[int, Field(strict=True, ge=1024, le=1024**3), _convert, _or_reference]
Temperature = Annotated[float, Field(strict=True, ge=0, le=2), _convert, _or_reference]
