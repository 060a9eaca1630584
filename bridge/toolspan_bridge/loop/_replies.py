"""What the replies to one question amount to: asked for again, gone on with, corrected, or its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..events import Ending, ToolUse
from ..formats.prompt.parse import INVENTED
from ..formats.shared.json_values import compact, snippet
from ..messages import Assistant, Citation, Json, Message, Reply, User
from ._answer_schema import AnswerSchema, CheckedAnswer
from ._ending import MAX_PAUSES, ending
from .limits.limits import LimitReached

_MALFORMED_AGAIN = 2
_MOST_TROUBLE = 500
_UNREADABLE = (
    "Your last turn held a call that could not be read, so that none was made: {} Write the call again, as "
    "your tools ask for it, or answer without one."
)
_MOST_TOLD = 4_000
"""So many characters of a result are told again."""
_MOST_NAMED = 200
_MOST_RESULTS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the last reply amounts to, of which ``content`` is the whole text with what was said before it."""

    content: str
    stop: Ending
    reason: str
    citations: tuple[Citation, ...] = ()
    fits: bool = False
    value: Json = None


class Replies:
    """The replies to one question. ``schema`` is what its answer has to fit, if it has to."""

    def __init__(self, schema: AnswerSchema | None) -> None:
        self._schema = schema
        self._pauses = 0
        self._times_again = 0
        self._paused_text = ""
        self._paused_citations: tuple[Citation, ...] = ()
        self._repaired = False
        self._told_again = False

    def asks_again(self, reply: Reply) -> bool:
        """Whether to ask again, because a turn broke off without any usable text, or the model wrote a call
        that the provider could not read, which it may not the next time.
        """
        no_answer = bool(reply.cut_calls) or not reply.message.text
        if reply.stop == "malformed":
            return self._times_again < (1 if reply.trouble == INVENTED else _MALFORMED_AGAIN)
        broke = reply.incomplete or reply.stop == "error"
        return broke and no_answer and not self._times_again

    def accepted(self, reply: Reply, pending: list[Message]) -> Reply | None:
        """``reply``; ``None`` when the model has to be asked again: its turn was unusable, of which it is
        told in ``pending`` where it wrote a call that cannot be read, or paused, which is added there."""
        if self.asks_again(reply):
            self._times_again += 1
            if reply.stop == "malformed" and reply.trouble and reply.trouble != INVENTED:
                pending.append(User(_UNREADABLE.format(snippet(reply.trouble, _MOST_TROUBLE)), typed=""))
            return None
        self._times_again = 0
        if reply.incomplete:
            kept = Assistant(reply.message.text, incomplete=True, citations=reply.message.citations)
            return replace(reply, message=kept)
        if reply.stop == "pause" and not reply.message.calls and self._pauses < MAX_PAUSES:
            self._pauses += 1
            self._paused_citations += self._citations(reply)
            self._paused_text += reply.message.text
            pending.append(reply.message)
            return None
        return reply

    def forget_pauses(self) -> None:
        """What was said before a pause is no part of the answer: calls followed, or a correction."""
        self._paused_text, self._paused_citations = "", ()

    async def repair(self, reply: Reply, pending: list[Message], reached: LimitReached | None) -> str:
        """Tell the model, once, why its answer does not fit; the note about that, if there is a need."""
        checked = await self._checked(reply, reached)
        if checked is None or not checked.faults or self._repaired:
            return ""
        self._repaired = True
        self.forget_pauses()
        given = Assistant(reply.message.text) if reply.message.calls else reply.message
        pending += [given, User(checked.repair, typed="")]
        return f"The answer does not fit its schema and is asked for once more: {'; '.join(checked.faults)}"

    def tells_again(self, reply: Reply, uses: Sequence[ToolUse], pending: list[Message]) -> str:
        """Tell a model that answers nothing, after calls that only repeated earlier ones, what came of them,
        once; the note about that, if there is a need."""
        empty = reply.stop in ("stop", "other") and not reply.message.text.strip() and not reply.message.calls
        return "" if reply.incomplete or not empty else self.tells_results(uses, pending)

    def tells_results(self, uses: Sequence[ToolUse], pending: list[Message]) -> str:
        """Tell a model that only repeats its calls what came of them, once; the note about that, if there is
        a need."""
        results = {(use.tool, compact(use.arguments)): use for use in uses if use.result.get("success")}
        if self._told_again or not results:
            return ""
        self._told_again = True
        tools = [tool for tool, _ in results]
        told: list[str] = []
        for (tool, arguments), use in results.items():
            shown = use.result.get("result")
            text = (shown if isinstance(shown, str) else compact(shown))[:_MOST_TOLD]
            which = tool if tools.count(tool) == 1 else f"{tool} with {arguments[:_MOST_NAMED]}"
            told.append(f"The result of {which} is {text}")
        pending.append(User("\n\n".join([*told[-_MOST_RESULTS:], "Now answer my question."]), typed=""))
        return "The model repeated a call and answered nothing: it is told the results, and asked once more."

    async def outcome(self, reply: Reply, instead: str, reached: LimitReached | None) -> Outcome:
        """What ``reply`` amounts to, the last one; ``instead`` is the content of one without a text;
        ``reached`` is the limit that it came after."""
        stop, reason = ending(reply, self._paused_text + reply.message.text, reached)
        checked = await self._checked(reply, reached)
        if checked and checked.faults:
            stop, reason = "schema", f"The answer does not fit its schema: {'; '.join(checked.faults)}."
        fits = checked is not None and not checked.faults
        return Outcome(
            self._paused_text + (reply.message.text or instead),
            stop,
            reason,
            self._paused_citations + self._citations(reply),
            fits,
            checked.value if checked and fits else None,
        )

    async def _checked(self, reply: Reply, reached: LimitReached | None) -> CheckedAnswer | None:
        """Whether the answer fits; ``None`` where there is no schema, or no whole answer to check."""
        text = self._paused_text + reply.message.text
        whole = ending(reply, text, reached)[0] == "end"
        return await self._schema.check_beside(text) if self._schema and whole else None

    def _citations(self, reply: Reply) -> tuple[Citation, ...]:
        """The sources of ``reply``, placed in the text of the whole answer."""
        return tuple(source.moved(len(self._paused_text)) for source in reply.message.citations)
