"""Runs a recorded conversation again: the model's turns from the record, its calls' results too, or new ones.

What comes out differently now (arguments that no longer fit, a tool that is gone, another result) are
``Difference`` records. No provider is asked.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override

from toolspan_server.engines.upstreams import ListedTool

from ..approvals import Approval, ApprovalRequest, Approver
from ..conversation import Conversation
from ..conversation.questions import question_places
from ..errors import ProviderError
from ..messages import (
    Assistant,
    Mark,
    Message,
    Reply,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)
from ..provenance.outward import LOCAL
from ..providers.catalog.scripted import Scripted
from ..toolbox import Toolbox
from ..toolbox.local import LOCAL_SERVER, LocalCall, LocalFailure, LocalTool
from ..toolbox.outcomes import failed
from ..toolbox.reports import Report, unreported
from ._question import Question
from ._run import answer
from .budget.results import READ_RESULT
from .hooks import Hook

__all__ = ["Difference", "Replayed", "replay"]

_MAX_ITERATIONS = 10_000
_NO_RESULT = "the record has no result of this call"


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs: of the ``call`` (a tool's name), or of the answer where that is empty, ``recorded`` is
    what came of it then, and ``now`` what comes of it."""

    call: str
    recorded: Any
    now: Any

    def as_dict(self) -> dict[str, Any]:
        """``{"call", "recorded", "now"}``."""
        return {"call": self.call or None, "recorded": self.recorded, "now": self.now}


@dataclass(frozen=True, slots=True)
class Replayed:
    """One question, run again: its ``number`` from 1 and its ``text``, how many ``calls`` were compared, and
    what differs. The calls of ``recorded`` tools were not made again: the bridge performs these, with a model
    or a person."""

    number: int
    text: str
    calls: int
    differences: tuple[Difference, ...]
    recorded: tuple[str, ...] = ()


async def replay(
    conversation: Conversation,
    toolbox: Toolbox | None = None,
    approver: Approver | None = None,
    hooks: Sequence[Hook] = (),
) -> AsyncGenerator[Replayed]:
    """Run each question of ``conversation`` again.

    Results come from the record, and the tools are those that it began with; with ``toolbox`` the tools are
    those of it, and are called, as ``approver`` allows and those of ``hooks`` that are of calls. Of tools
    that the bridge performs itself, ``read_result`` reads as it did, and the others (``Task``,
    ``ExitPlanMode``), which need a model or a person, give what is recorded.
    """
    messages = conversation.messages
    places = question_places(messages)
    again = Conversation()
    for number, (start, end) in enumerate(zip(places, [*places[1:], len(messages)], strict=True), 1):
        part = messages[start:end]
        asked = _last_question(part)
        question = Question(
            asked.text,
            "recorded",
            parts=asked.parts,
            max_iterations=_MAX_ITERATIONS,
            typed=asked.typed,
            marks=asked.marks,
        )
        before, performed = len(again.messages), list[_Performed]()
        if toolbox is None:
            await _run_again(part, question, _RecordedTools(conversation, part), again, _Everything())
        else:
            performed = _performed(conversation, part)
            cut = [outcome.cut for outcome in _outcomes(messages) if outcome.cut is not None]
            live = replace(
                question,
                hooks=tuple(hook for hook in hooks if hook.point in ("before_call", "after_call")),
                result_characters=min([question.result_characters, *cut]),
            )
            await _run_again(part, live, toolbox.with_local(performed), again, approver)
        differences = tuple(_differences(part, again.messages[before:]))
        recorded = tuple(tool.definition.name for tool in performed if tool.calls)
        yield Replayed(number, asked.text, len(list(_outcomes(part))), differences, recorded)


async def _run_again(
    part: Sequence[Message],
    question: Question,
    tools: Toolbox,
    again: Conversation,
    approver: Approver | None,
) -> None:
    turns = [_reply(message) for message in part if isinstance(message, Assistant)]
    script = Scripted(turns, source="the record")
    again.refresh()
    try:
        await answer(question, script, tools, again, approver=approver)
    except ProviderError:
        if len(script.requests) <= len(turns):
            raise
        # the record ends before the answer, as it was interrupted or failed then


def _reply(message: Assistant) -> Reply:
    """A turn that broke off is the end of its question: it is not asked for again here."""
    return Reply(Assistant(message.text, message.calls))


def _last_question(part: Sequence[Message]) -> User:
    """The question itself, after instructions that came with it."""
    asked = User("")
    for message in part:
        if not isinstance(message, User):
            break
        asked = message
    return asked


def _differences(recorded: Sequence[Message], now: Sequence[Message]) -> Iterator[Difference]:
    before, after = list(_outcomes(recorded)), list(_outcomes(now))
    for was, come in zip(before, after, strict=False):
        if _told(was) != _told(come):
            yield Difference(was.name, _told(was), _told(come))
    for was in before[len(after) :]:
        yield Difference(was.name, _told(was), None)
    for come in after[len(before) :]:
        yield Difference(come.name, None, _told(come))
    then, answered = _text(recorded), _text(now)
    if then != answered:
        yield Difference("", then, answered)


def _text(messages: Sequence[Message]) -> str:
    last = messages[-1] if messages else None
    return last.text if isinstance(last, Assistant) else ""


def _outcomes(messages: Sequence[Message]) -> Iterator[ToolOutcome]:
    for message in messages:
        if isinstance(message, ToolResults):
            yield from message.outcomes


def _told(outcome: ToolOutcome) -> Any:
    """What came of a call, without the time it took."""
    kept = {key: value for key, value in outcome.result.items() if key != "execution_time_ms"}
    return json.loads(json.dumps(kept, default=str))


class _RecordedTools(Toolbox):
    """The tools that the requests of a conversation had, with the outcomes that are in ``part`` of it."""

    def __init__(self, conversation: Conversation, part: Sequence[Message]) -> None:
        super().__init__([])
        known = {tool.key: tool for each in conversation.beginnings.values() for tool in each.tools}
        self.tools = tuple(known.values())
        self._outcomes: defaultdict[str, deque[ToolOutcome]] = defaultdict(deque)
        for outcome in _outcomes(part):
            self._outcomes[outcome.call_id].append(outcome)

    @override
    def with_local(self, tools: Iterable[LocalTool]) -> Toolbox:
        """Itself: what was performed is in the record too."""
        del tools
        return self

    @override
    def definition(self, spec: ToolSpec) -> ListedTool:
        return ListedTool(spec.name, spec.description, spec.schema, LOCAL)

    @override
    async def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        call_id: str,
        conversation: str = "",
        *,
        approved: bool = False,
        shown: str | None = None,
        report: Report = unreported,
        marks: list[Mark] | None = None,
    ) -> ToolOutcome:
        """The recorded outcome of the call."""
        waiting = self._outcomes[call_id]
        if waiting:
            return waiting.popleft()
        return failed(call_id, spec.name, _NO_RESULT, "no_result", "")


class _Performed:
    """A tool that the bridge performed in ``part`` of a conversation: the outcomes are the recorded ones."""

    def __init__(self, spec: ToolSpec, part: Sequence[Message]) -> None:
        self.definition = ListedTool(spec.name, spec.description, spec.schema, LOCAL)
        self.calls = 0
        self._outcomes: defaultdict[str, deque[ToolOutcome]] = defaultdict(deque)
        for outcome in _outcomes(part):
            if outcome.name == spec.name:
                self._outcomes[outcome.call_id].append(outcome)

    async def call(self, call: LocalCall) -> Any:
        """The recorded result. Raises ``LocalFailure``, also where there is none."""
        self.calls += 1
        if not self._outcomes[call.id]:
            raise LocalFailure(_NO_RESULT, "no_result", "")
        result = self._outcomes[call.id].popleft().result
        if result.get("success"):
            return result.get("result")
        told = (str(result.get(key, "")) for key in ("error", "error_code", "user_action"))
        raise LocalFailure(*told)


def _performed(conversation: Conversation, part: Sequence[Message]) -> list[_Performed]:
    tools = {tool.key: tool for each in conversation.beginnings.values() for tool in each.tools}
    return [
        _Performed(tool, part)
        for key, tool in tools.items()
        if tool.server == LOCAL_SERVER and key != READ_RESULT.key
    ]


class _Everything:
    """Allows every call: nothing is done by it."""

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """No call needs approval."""
        return ""

    async def decide(self, request: ApprovalRequest) -> Approval:
        """Yes."""
        return Approval(allowed=True, decider="policy")
