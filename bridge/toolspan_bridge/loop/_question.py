"""The input of a run: a question, its model and its tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..messages import (
    Mark,
    Message,
    Part,
    ReasoningEffort,
    Request,
    ToolChoice,
    ToolSpec,
    User,
)
from .hooks.contract import Hook
from .limits.limits import NO_LIMITS, Limits

REPAIR_ATTEMPTS = 3
"""How often a model may correct arguments in one question, when nothing else is said."""
RESULT_CHARACTERS = 100_000
"""How much of a result's text is shown, when nothing else is said."""
DEFAULT_SYSTEM = (
    "You are a helpful assistant with tools. Use a tool where it helps; otherwise answer directly."
)
"""The system prompt of questions without one of their own."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model. ``model`` is the model's name at its provider; ``allowed_tools`` are tools' own
    names, ``None`` for all; ``max_iterations`` counts the turns in which tools may be called.

    ``parts`` are images and other files beside the text; ``vision`` says whether the model accepts images.
    ``builtins`` are the provider's own tools, ``builtin_options`` the settings of each. With ``stream`` the
    answer is streamed; with ``trim`` the oldest messages are dropped if the model's context is too short
    for all. ``reasoning`` is how much the model is to think; ``None`` leaves it to the model.
    ``answer_schema`` is a JSON Schema that the answer has to fit: it is then one JSON value,
    ``Answer.value``. Of more tools than ``tools_offered``, and than the format takes, the model has to find
    those that it needs with a search. ``max_parallel`` calls of a turn run at the same time. ``limits`` hold
    for this question, ``conversation_limits`` for all of its conversation. In ``repair_attempts`` turns the
    model may send arguments that do not fit, is told so and may correct them; then it has to answer.
    ``context_tokens`` is the length of the model's context, where the table of prices is not to be asked; of
    a result's text the first ``result_characters`` are shown. With ``compact`` the model summarises what came
    before this question when that does not fit otherwise. ``hooks`` run before and after it and its calls.
    Without ``checks_arguments`` calls are made with whatever object of arguments, fit or not.

    ``returned_tools`` are the caller's own: the model is offered them beside the others, and a turn that
    calls one ends the run, with these calls in ``Answer.returned_calls``; the caller adds their results to
    the conversation and asks on with a question that ``resumes``, which has no text. Where there are no other
    tools, it gets calls of unknown tools too, and with ``returns_malformed`` those of its own whose arguments
    are no JSON object. ``tool_choice`` holds for the first turn, ``none`` for all; ``parallel`` is whether a
    turn may have several calls, ``None`` leaves it to the provider. ``settings`` are further ones of the
    answers by their names in Chat Completions (``top_p``, ``seed``, …), as far as the model takes them.

    ``typed`` is what of the text a person typed, ``None`` for all of it; ``marks`` say what else is in it
    that needs care, as another server's prompt.
    """

    text: str
    model: str
    system: str = ""
    allowed_tools: tuple[str, ...] | None = None
    max_iterations: int = 5
    max_tokens: int | None = None
    temperature: float | None = None
    parts: tuple[Part, ...] = ()
    builtins: tuple[str, ...] = ()
    vision: bool = True
    stream: bool = False
    trim: bool = False
    reasoning: ReasoningEffort | None = None
    answer_schema: Mapping[str, Any] | None = None
    tools_offered: int | None = None
    max_parallel: int = 16
    limits: Limits = NO_LIMITS
    conversation_limits: Limits = NO_LIMITS
    repair_attempts: int = REPAIR_ATTEMPTS
    context_tokens: int | None = None
    result_characters: int = RESULT_CHARACTERS
    compact: bool = False
    hooks: tuple[Hook, ...] = ()
    checks_arguments: bool = True
    builtin_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    returned_tools: tuple[ToolSpec, ...] = ()
    returns_malformed: bool = False
    resumes: bool = False
    tool_choice: ToolChoice = "auto"
    parallel: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    typed: str | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def asked(self) -> User:
        """The question as a message."""
        return User(self.text, self.parts, self.text if self.typed is None else self.typed, self.marks)

    def request(
        self,
        messages: Sequence[Message],
        tools: tuple[ToolSpec, ...],
        builtins: tuple[str, ...],
        *,
        closing: bool,
    ) -> Request:
        """The request that continues with ``messages``; in the ``closing`` turn no tool may be called."""
        return Request(
            model=self.model,
            messages=tuple(messages),
            system=self.system,
            tools=tools,
            tool_choice="none" if closing else "auto",
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            vision=self.vision,
            builtins=builtins,
            stream=self.stream,
            trim=self.trim,
            reasoning=self.reasoning,
            answer_schema=self.answer_schema,
            builtin_options=self.builtin_options,
            parallel=self.parallel,
            settings=self.settings,
        )
