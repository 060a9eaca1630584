"""What a mock does before it answers, as a config says it."""

from __future__ import annotations

from typing import Any, cast

from typing_extensions import override

from ...calls.client import Ability
from ...problems import Fault, Faulty
from ...schema.records import (
    ANYTHING,
    Record,
    checked,
    choice,
    key,
    many,
    named,
    optional,
    text,
)
from ...schema.values import FLAG, integer
from ..conditions import WHEN
from ..templates import templated

_ACTIONS = ("progress", "log", "ask", "delay_ms", "release", "change")
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_NUMBER = {"type": "float", "strict": False}
_FORM_TYPES = ("string", "number", "integer", "boolean", "array")
_NAME = text(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")


class MockProgress(Record):
    """A report of progress."""

    progress: float = key(_NUMBER, "How far the work has come; more each time.")
    total: float | None = key(optional(_NUMBER), "How far it has to come, if that is known.", default=None)
    message: str | None = key(optional(templated(text())), "What is being done; a template.", default=None)


class MockLog(Record):
    """A log message."""

    level: str = key(choice(*_LEVELS), "How serious it is.", default="info")
    data: Any = key(templated(ANYTHING), "What it says, any JSON value with templates.")
    logger: str | None = key(optional(text(least=1)), "The name of what says it.", default=None)


def form_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` as it is. Raises ``Faulty`` when no form can be made of it.

    The rules are MCP's (2026-07-28, client/elicitation): an object of simple fields.
    """
    faults: list[Fault] = []
    if schema.get("type") != "object":
        faults.append(Fault((), "must have type: object", "a form is an object of simple fields"))
    fields = schema.get("properties", {})
    if not isinstance(fields, dict):
        raise Faulty(*faults, Fault(("properties",), "must be an object"))
    for name, field in cast("dict[str, Any]", fields).items():
        if not isinstance(field, dict) or cast("dict[str, Any]", field).get("type") not in _FORM_TYPES:
            hint = "its type is one of " + ", ".join(_FORM_TYPES)
            faults.append(Fault(("properties", name), "is no simple field of a form", hint))
    if faults:
        raise Faulty(*faults)
    return schema


class MockElicitation(Record):
    """A question to the user: a form, or with ``url`` a page to visit."""

    message: str = key(templated(text(least=1)), "What the user is asked; a template.")
    requested_schema: dict[str, Any] | None = key(
        optional(templated(checked(named(ANYTHING), form_schema))),
        "JSON Schema of the form: an object of simple fields.",
        default=None,
        spellings=["requestedSchema", "requested_schema"],
    )
    url: str | None = key(
        optional(templated(text(least=1))), "The page to visit instead of a form; a template.", default=None
    )
    elicitation_id: str | None = key(
        optional(text(least=1)),
        "The id that goes with url; made up when absent.",
        default=None,
        spellings=["elicitationId", "elicitation_id"],
    )

    @override
    def check(self) -> None:
        if self.url is not None and self.requested_schema is not None:
            raise Faulty(Fault(("url",), "a question is a form or a page, not both", "keep one of them"))
        if self.elicitation_id is not None and self.url is None:
            raise Faulty(Fault(("elicitationId",), "goes with url", "add url, or leave it out"))


class MockSampling(Record):
    """A request to the client's model; its other keys are passed on as MCP has them."""

    messages: tuple[Any, ...] = key(
        templated(many(ANYTHING, least=1)),
        "The conversation: {role, content}, as MCP has them; texts are templates.",
    )
    max_tokens: int = key(
        integer(1),
        "Most tokens of the answer.",
        default=1_000,
        spellings=["maxTokens", "max_tokens"],
    )
    system_prompt: str | None = key(
        optional(templated(text())),
        "Instructions to the model; a template.",
        default=None,
        spellings=["systemPrompt", "system_prompt"],
    )
    temperature: float | None = key(
        optional({"type": "float", "ge": 0}), "Randomness of the answer.", default=None
    )
    stop_sequences: tuple[str, ...] | None = key(
        optional(many(text())),
        "Texts that end the answer.",
        default=None,
        spellings=["stopSequences", "stop_sequences"],
    )
    model_preferences: dict[str, Any] | None = key(
        optional(named(ANYTHING)),
        "Which models suit, as MCP has it.",
        default=None,
        spellings=["modelPreferences", "model_preferences"],
    )

    @override
    def check(self) -> None:
        for at, message in enumerate(self.messages):
            if not isinstance(message, dict) or not {"role", "content"} <= cast("Any", message).keys():
                raise Faulty(Fault(("messages", at), "must be an object with 'role' and 'content'"))


class MockQuestion(Record):
    """One question to the client."""

    elicitation: MockElicitation | None = key(
        optional(MockElicitation.shape()), "Ask the user.", default=None
    )
    sampling: MockSampling | None = key(
        optional(MockSampling.shape()), "Ask the client's model.", default=None
    )
    roots: bool = key(FLAG, "Ask for the client's folders.", default=False)
    when: dict[str, Any] | None = key(
        optional(WHEN), "Ask only when these conditions hold; see the rules.", default=None
    )

    @property
    def ability(self) -> Ability:
        """What the client must be able to do."""
        if self.elicitation is not None:
            return "elicitation"
        return "roots" if self.roots else "sampling"

    @override
    def check(self) -> None:
        asked = [self.elicitation is not None, self.sampling is not None, self.roots]
        if sum(asked) != 1:
            raise Faulty(Fault((), "must have one of elicitation, sampling and roots: true"))


class MockStep(Record):
    """One thing that is done before the answer."""

    progress: MockProgress | None = key(optional(MockProgress.shape()), "Report progress.", default=None)
    log: MockLog | None = key(optional(MockLog.shape()), "Send a log message.", default=None)
    ask: dict[str, MockQuestion] | None = key(
        optional(named(MockQuestion.shape(), names=_NAME)),
        "Questions to the client, asked together; answers are {{ answers.NAME… }} from then on.",
        default=None,
    )
    delay_ms: int | None = key(
        optional(integer(0, 3_600_000)), "Wait this long, in milliseconds.", default=None
    )
    release: bool = key(
        FLAG, "Let go of the client's connection; it fetches the answer later.", default=False
    )
    change: str | None = key(
        optional(choice("tools", "prompts", "resources")),
        "Tell every client that this list changed.",
        default=None,
    )
    when: dict[str, Any] | None = key(
        optional(WHEN), "Do it only when these conditions hold; see the rules.", default=None
    )

    @override
    def check(self) -> None:
        done = [name for name in _ACTIONS if name in self.model_fields_set]
        if len(done) != 1:
            raise Faulty(Fault((), "must be one of " + ", ".join(_ACTIONS), "make each a step of its own"))
        if self.ask is not None and not self.ask:
            raise Faulty(Fault(("ask",), "has no question", "add one: name: {elicitation: {message: …}}"))
