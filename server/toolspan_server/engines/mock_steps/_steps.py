"""The config of a mock's steps before its answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from typing_extensions import override

from ...calls.client import Ability
from ...problems import Fault, Faulty
from ...schema.constraints import AfterValidator, Limits, WithoutVariable
from ...schema.keys import CHOICE, DATA, PARTS
from ...schema.records import (
    Record,
    key,
)
from ..conditions import Conditions
from ..templates import check_templates

_ACTIONS = ("progress", "log", "ask", "delay_ms", "release", "change")
_Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
_Number = Annotated[float, WithoutVariable(strict=False)]
_FORM_TYPES = ("string", "number", "integer", "boolean", "array")
_Name = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]


class MockProgress(Record):
    """A report of progress."""

    progress: _Number = key(
        "The progress so far; each report must be higher than the one before.", inert=DATA
    )
    total: _Number | None = key("The progress at completion, if known.", default=None, inert=DATA)
    message: str | None = key(
        "A message about the current work; a template.", check=check_templates, default=None, inert=DATA
    )


class MockLog(Record):
    """A log message."""

    level: _Level = key("The log level.", default="info", inert=DATA)
    data: Any = key("The logged data: any JSON value with templates.", check=check_templates, inert=DATA)
    logger: str | None = key("The name of the logger.", least=1, default=None, inert=DATA)


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

    message: str = key("The question to the user; a template.", least=1, check=check_templates, inert=DATA)
    requested_schema: Annotated[dict[str, Any], AfterValidator(form_schema)] | None = key(
        "JSON Schema of the form: an object of simple fields.",
        check=check_templates,
        default=None,
        spellings=["requestedSchema", "requested_schema"],
        inert=DATA,
    )
    url: str | None = key(
        "The page to visit instead of a form; a template.", least=1, check=check_templates, default=None
    )
    elicitation_id: str | None = key(
        "The id of the elicitation with url; generated when absent.",
        least=1,
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
        "The messages: {role, content}, as in MCP; texts are templates.",
        least=1,
        check=check_templates,
    )
    max_tokens: int = key(
        "Most tokens of the answer.",
        least=1,
        default=1_000,
        spellings=["maxTokens", "max_tokens"],
    )
    system_prompt: str | None = key(
        "Instructions to the model; a template.",
        check=check_templates,
        default=None,
        spellings=["systemPrompt", "system_prompt"],
    )
    temperature: Annotated[float, WithoutVariable(strict=False)] | None = key(
        "Randomness of the answer.", least=0, default=None
    )
    stop_sequences: tuple[str, ...] | None = key(
        "Texts that end the answer.",
        default=None,
        spellings=["stopSequences", "stop_sequences"],
    )
    model_preferences: dict[str, Any] | None = key(
        "Model preferences, as in MCP.",
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

    elicitation: MockElicitation | None = key("Ask the user (elicitation).", default=None, inert=PARTS)
    sampling: MockSampling | None = key("Ask the client's model (sampling).", default=None)
    roots: bool = key("Ask for the client's folders (roots).", default=False)
    when: Conditions | None = key(
        "Ask only when these conditions hold; written like the when of rules.", default=None, inert=CHOICE
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
    """One step before the answer."""

    progress: MockProgress | None = key("Report progress.", default=None, inert=PARTS)
    log: MockLog | None = key("Send a log message.", default=None, inert=PARTS)
    ask: dict[_Name, MockQuestion] | None = key(
        "Questions to the client, asked together; answers are {{ answers.NAME… }} from then on.",
        default=None,
        inert=PARTS,
    )
    delay_ms: int | None = key(
        "Wait this long, in milliseconds.", least=0, most=3_600_000, default=None, inert=CHOICE
    )
    release: bool = key(
        "Close the response stream; the client fetches the answer later.", default=False, inert=CHOICE
    )
    change: Literal["tools", "prompts", "resources"] | None = key(
        "Notify every client that this list changed.", default=None, inert=CHOICE
    )
    when: Conditions | None = key(
        "Run the step only when these conditions hold; written like the when of rules.",
        default=None,
        inert=CHOICE,
    )

    @override
    def check(self) -> None:
        done = [name for name in _ACTIONS if name in self.model_fields_set]
        if len(done) != 1:
            raise Faulty(Fault((), "must be one of " + ", ".join(_ACTIONS), "make each a step of its own"))
        if self.ask is not None and not self.ask:
            raise Faulty(Fault(("ask",), "has no question", "add one: name: {elicitation: {message: …}}"))
