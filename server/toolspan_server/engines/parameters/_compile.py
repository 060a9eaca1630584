"""Schemas compiled: JSON Schema 2020-12, formats asserted, nothing fetched, patterns bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ._compile_cost import check_compilable

if TYPE_CHECKING:
    from jsonschema_rs import FancyRegexOptions, RegexOptions, Validator, ValidatorMap

BACKTRACK_LIMIT = 100_000


def compile_schema(schema: Mapping[str, Any]) -> Validator:
    """The validator of ``schema``, by JSON Schema 2020-12 if it names no other; the same schema is compiled
    once.

    Patterns run in linear time. Where one needs lookaround or a backreference, its steps are
    limited instead, and text that reaches the limit does not match.

    Raises ``jsonschema_rs.ValidationError``, ``ReferencingError`` or ``ValueError`` when the schema is wrong;
    ``TooExpensive``, which is a ``ValueError``, when it could not be compiled or used in bounded time.
    """
    return _compiled(json.dumps(schema))


def compile_parts(schema: Mapping[str, Any]) -> ValidatorMap:
    """A validator for each part of ``schema``, by JSON pointer (``#/properties/units/anyOf/0``).

    The library leaves out, without a word, every part with a pattern that it cannot compile.
    """
    from jsonschema_rs import validator_map_for

    whole = {key: value for key, value in schema.items() if key != "$schema"}
    parts = validator_map_for(whole, validate_formats=True, offline=True, pattern_options=_linear())
    if parts.get("#") is None:
        parts = validator_map_for(whole, validate_formats=True, offline=True, pattern_options=_bounded())
    return parts


@lru_cache(maxsize=1024)
def _compiled(text: str) -> Validator:
    from jsonschema_rs import validator_for

    schema = json.loads(text)
    check_compilable(schema)
    try:
        return validator_for(schema, validate_formats=True, offline=True, pattern_options=_linear())
    except ValueError:
        return validator_for(schema, validate_formats=True, offline=True, pattern_options=_bounded())


def _linear() -> RegexOptions:
    from jsonschema_rs import RegexOptions

    return RegexOptions()


def _bounded() -> FancyRegexOptions:
    from jsonschema_rs import FancyRegexOptions

    return FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
