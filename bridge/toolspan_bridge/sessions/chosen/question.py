"""What a caller adds to the questions of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ...client import LogLevel
    from ...conversation.settings import Settings
    from ...loop import Question
    from ...messages import Mark, Part, ReasoningEffort
    from ...presets import Preset
    from ..named.mentions import Asked


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """What a caller adds to a question. ``stream``: the answer is shown as it comes; ``trim``: the oldest
    messages may be left out. Without ``reasoning`` that of the ``preset`` holds, else the route's; without
    ``log_level`` the config's."""

    model: str | None = None
    system: str | None = None
    images: tuple[Part, ...] = ()
    builtins: tuple[str, ...] = ()
    stream: bool = False
    trim: bool = False
    compact: bool = False
    reasoning: ReasoningEffort | None = None
    log_level: LogLevel | None = None
    search: Mapping[str, Any] = field(default_factory=dict[str, Any])
    preset: Preset | None = None
    typed: str | None = None
    marks: tuple[Mark, ...] = ()

    def in_conversation(self, settings: Settings) -> Self:
        """The same in a conversation of these ``settings``, which give way to the options."""
        return replace(self, system=self.system or settings.system or None)

    def with_images(self, parts: tuple[Part, ...]) -> Self:
        """The same, with ``parts`` beside the images."""
        return replace(self, images=(*self.images, *parts))

    def asking(self, asked: Asked) -> Self:
        """The same, with the files of ``asked`` beside the images, and its origins."""
        return replace(self.with_images(asked.parts), typed=asked.typed, marks=asked.marks)

    def applied_to(self, question: Question) -> Question:
        """``question`` with these options."""
        builtins = tuple(dict.fromkeys((*question.builtins, *self.builtins)))
        return replace(
            question,
            parts=self.images,
            typed=self.typed,
            marks=(*question.marks, *self.marks),
            builtins=builtins,
            stream=self.stream,
            trim=self.trim,
            compact=self.compact or question.compact,
            reasoning=self.reasoning or question.reasoning,
            builtin_options=self._builtin_options(question),
        )

    def _builtin_options(self, question: Question) -> Mapping[str, Mapping[str, Any]]:
        if not self.search:
            return question.builtin_options
        web_search = {**question.builtin_options.get("web_search", {}), **self.search}
        return {**question.builtin_options, "web_search": web_search}
