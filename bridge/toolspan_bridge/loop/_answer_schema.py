"""Answers that have to be a JSON value of a schema: what the model is told, and whether its answer fits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from toolspan_server.schema.json_schema_faults import (
    ValueNames,
    fault_messages,
)

from ..errors import UsageError
from ..formats import takes_answer_schema
from ..messages import Json
from ..providers import Provider
from ..toolbox import Toolbox
from ._question import Question

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_WORDS = """\
# The answer

When you give the answer, it is one JSON value that fits this JSON Schema, and nothing else: no words around
it, no code fence.

{}"""
_REPAIR = "The answer does not fit its JSON Schema:\n{}\nGive the corrected JSON, and nothing else."
_FENCED = re.compile(r"^[ \t]*(`{3,})[^\n`]*\n(.*?)\n[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_MOST_FENCES = 100
_NAMES = ValueNames("the answer", "member")


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The JSON value of an answer, or what keeps it from fitting the schema."""

    value: Json = None
    faults: tuple[str, ...] = ()

    @property
    def repair(self) -> str:
        """What the model is told of the faults."""
        return _REPAIR.format("\n".join(f"- {fault}" for fault in self.faults))


class AnswerSchema:
    """The JSON Schema (2020-12, if it names no other) of an answer. Raises ``UsageError`` when it is none."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._validator = _compiled(schema)

    @property
    def words(self) -> str:
        """The part of the system prompt for models whose provider does not take the schema itself."""
        return _WORDS.format(json.dumps(dict(self._schema), ensure_ascii=False))

    def check(self, text: str) -> CheckedAnswer:
        """The value that ``text`` holds, alone or in the one code fence that it has."""
        try:
            value = json.loads(_json_of(text))
        except (ValueError, RecursionError) as error:
            return CheckedAnswer(faults=(f"it is no JSON: {error}",))
        if self._validator.is_valid(value):
            return CheckedAnswer(value)
        return CheckedAnswer(value, tuple(fault_messages(self._validator.iter_errors(value), _NAMES)))


def _compiled(schema: Mapping[str, Any]) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(dict(schema), validate_formats=True, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise UsageError(f"the schema of the answer is no JSON Schema: {error}") from None


def _json_of(text: str) -> str:
    if text.count("```") > _MOST_FENCES:  # each that is not closed is looked for to the end of the text
        return text
    fenced = _FENCED.findall(text)
    return str(fenced[0][1]) if len(fenced) == 1 else text


def with_schema(question: Question, schema: AnswerSchema, provider: Provider, toolbox: Toolbox) -> Question:
    """``question``, with its schema in the system prompt where the provider does not take it itself."""
    tools = (*(() if question.allowed_tools == () else toolbox.tools), *question.returned_tools)
    request = question.request((), tools, question.builtins, closing=False)
    if provider.format_name and takes_answer_schema(provider.format_name, request):
        return question
    return replace(question, system="\n\n".join(filter(None, (question.system, schema.words))))
