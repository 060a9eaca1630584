"""Answers that have to be a JSON value of a schema: what the model is told, and whether its answer fits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolspan_server.common.beside_loop import LARGE_BYTES, run_beside
from toolspan_server.engines.parameters import Check, TooExpensive, ValueNames

from ..errors import UsageError
from ..formats import takes_answer_schema
from ..messages import Json
from ..providers import Provider
from ..toolbox import Toolbox
from ._question import Question

_WORDS = """\
# The answer

When you give the answer, it is one JSON value that fits this JSON Schema, and nothing else: no words around
it, no code fence.

{}"""
_REPAIR = "The answer does not fit its JSON Schema:\n{}\nGive the corrected JSON, and nothing else."
_FENCED = re.compile(r"^[ \t]*(`{3,})[^\n`]*\n(.*?)\n[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_MOST_FENCES = 100
_VISITS = 300_000
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
    """The JSON Schema (2020-12, if it names no other) of an answer.

    Raises ``UsageError`` when it is none, or answers could not be checked by it in bounded time.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._check = _compiled(schema)

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
        return CheckedAnswer(value, tuple(self._check.faults(value)))

    async def check_beside(self, text: str) -> CheckedAnswer:
        """``check`` beside the event loop: what a client's schema asks of even a short answer may be much."""
        return await run_beside(LARGE_BYTES, lambda: self.check(text))


def _compiled(schema: Mapping[str, Any]) -> Check:
    import jsonschema_rs

    check = Check(dict(schema), _NAMES, _VISITS)
    try:
        check.compile()
    except TooExpensive as error:
        why = f"the schema of the answer is too expensive to check answers by: {error}; make it simpler"
        raise UsageError(why) from None
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise UsageError(f"the schema of the answer is no JSON Schema: {error}") from None
    return check


def _json_of(text: str) -> str:
    if text.count("```") > _MOST_FENCES:  # each that is not closed is looked for to the end of the text
        return text
    fenced = _FENCED.findall(text)
    return str(fenced[0][1]) if len(fenced) == 1 else text


async def prepare_schema(
    question: Question, provider: Provider, toolbox: Toolbox
) -> tuple[Question, AnswerSchema | None]:
    """The schema of ``question`` compiled, and the question with it in the system prompt where the provider
    does not take it itself. Raises ``UsageError``."""
    wanted = question.answer_schema
    if wanted is None:
        return question, None

    def work() -> tuple[Question, AnswerSchema]:
        schema = AnswerSchema(wanted)
        return _with_schema(question, schema, provider, toolbox), schema

    return await run_beside(LARGE_BYTES, work)


def _with_schema(question: Question, schema: AnswerSchema, provider: Provider, toolbox: Toolbox) -> Question:
    tools = (*(() if question.allowed_tools == () else toolbox.tools), *question.returned_tools)
    request = question.request((), tools, question.builtins, closing=False)
    if provider.format_name and takes_answer_schema(provider.format_name, request):
        return question
    return replace(question, system="\n\n".join(filter(None, (question.system, schema.words))))
