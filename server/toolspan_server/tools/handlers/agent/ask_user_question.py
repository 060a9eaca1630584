"""``AskUserQuestion``: questions to the person, with answers to choose from."""

from __future__ import annotations

from typing import Any

from ....calls.client import Question
from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters, ToolFailure
from ..workspace._tool import Definition, Options, references
from ._question_form import answers_of, form_of

_KEY = "questions"
_OPTIONS: dict[str, Any] = {
    "type": "array",
    "minItems": 2,
    "maxItems": 10,
    "items": {
        "anyOf": [
            {"type": "string", "minLength": 1, "maxLength": 200},
            {
                "type": "object",
                "properties": {
                    "label": {"type": "string", "minLength": 1, "maxLength": 200},
                    "description": {"type": "string", "maxLength": 1_000},
                },
                "required": ["label"],
                "additionalProperties": False,
            },
        ]
    },
}

DEFINITION = Definition(
    name="AskUserQuestion",
    description=(
        "Ask the person up to four questions and wait for the answers: what they prefer, what an instruction "
        "means. Each may have options to choose from; the person can always give another answer instead. Do "
        "not ask for what you can find out yourself."
    ),
    properties={
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": 4,
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1, "maxLength": 2_000},
                    "header": {
                        "type": "string",
                        "maxLength": 100,
                        "description": "The subject in a word or two",
                    },
                    "options": {**_OPTIONS, "description": "The answers to choose from"},
                    "multiSelect": {"type": "boolean", "description": "Whether several may be chosen"},
                },
                "required": ["question"],
                "additionalProperties": False,
            },
        },
        "options": {**_OPTIONS, "description": "The options of each question that has none of its own"},
    },
    required=("questions",),
    read_only=True,
)


@handler("AskUserQuestion", kind="internal", options=Options, references=references, talks=True)
async def ask_user_question(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"questions": [{"question", "header"?, "options"?, "multiSelect"?}], "options"?}`` → ``{"answers":
    [{"question", "answer"}]}``; ``answer`` is a text, a list of texts where several may be chosen, or null.
    """
    shared: list[Any] = arguments.get("options", [])
    questions = [{**each, "options": each.get("options", shared)} for each in arguments["questions"]]
    _check(questions)
    if not context.client.accepts("elicitation"):
        raise ToolFailure(
            "The person cannot be asked: the client does not support elicitation",
            error_code="client_cannot_answer",
            user_action="Write the question as your answer, or decide yourself and say what you assumed.",
        )
    message, form = form_of(questions)
    params = {"mode": "form", "message": message, "requestedSchema": form}
    answers = await context.client.ask({_KEY: Question("elicitation", params)})
    action = answers[_KEY].get("action")
    if action != "accept":
        declined = action == "decline"
        raise ToolFailure(
            "The person does not want to answer" if declined else "The person gave no answer",
            error_code="declined" if declined else "cancelled",
            user_action="Go on without the answer, or stop here. Do not ask the same again.",
        )
    return {"answers": answers_of(questions, answers[_KEY].get("content") or {})}


def _check(questions: list[dict[str, Any]]) -> None:
    for number, question in enumerate(questions):
        labels = [each if isinstance(each, str) else each["label"] for each in question["options"]]
        if len(set(labels)) < len(labels):
            raise InvalidParameters([f"questions[{number}].options: two of them have the same label"])
        if question.get("multiSelect") and not labels:
            raise InvalidParameters([f"questions[{number}]: multiSelect needs options"])
