"""The config of a mock's answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.constraints import Limits, WithoutVariable
from ...schema.keys import CHOICE, DATA, PARTS, Inert
from ...schema.records import (
    Record,
    key,
)
from ..conditions import Conditions
from ..templates import check_templates
from ._content import content_blocks, has_files_inside

_Word = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
_Milliseconds = Annotated[int, Limits(least=0, most=3_600_000)]
_ANSWERS = ("mock_response", "response", "content", "error", "protocol_error")

_WHEN_SAYS = (
    "Conditions on the arguments (path: value, or path: {equals, in, not, regex, gt, ge, lt, le, "
    "contains, exists}) that must all hold."
)


class MockError(Record):
    """A tool error, which the model gets as a result."""

    message: str = key(
        "The error message for the model; a template.", least=1, check=check_templates, inert=DATA
    )
    code: _Word | None = key("The error code; execution_error when absent.", default=None, inert=DATA)
    user_action: str | None = key(
        "What the person may do about it; a template.",
        least=1,
        check=check_templates,
        default=None,
        inert=DATA,
    )


class MockProtocolError(Record):
    """A refusal of the whole request, as a JSON-RPC error."""

    code: Annotated[int, WithoutVariable()] = key("The JSON-RPC error code, such as -32602.", inert=DATA)
    message: str = key("The error message; a template.", least=1, check=check_templates, inert=DATA)
    data: Any = key(
        "More about the error: any JSON value with templates.",
        check=check_templates,
        default=None,
        inert=DATA,
    )


class MockReply(Record):
    """One answer."""

    mock_response: Any = key(
        "The result: any JSON value, returned unchanged.", default=None, served=True, inert=DATA
    )
    response: Any = key(
        "The result: any JSON value, whose texts are templates: {{ city }}, {{ call.number }}.",
        check=check_templates,
        default=None,
        served=True,
        inert=DATA,
    )
    content: tuple[Any, ...] | None = key(
        "The result as MCP content blocks: text, image, audio, resource_link, resource. Texts are "
        "templates; file: names a file instead of data, text or blob.",
        check=content_blocks,
        default=None,
        served=True,
        inert=Inert("its files are read as data, and lie in the folder", has_files_inside),
    )
    structured: Any = key(
        "The structured content that goes with content: JSON for programs, with templates.",
        check=check_templates,
        default=None,
        served=True,
        inert=DATA,
    )
    error: MockError | None = key("Fail the call, with this error for the model.", default=None, inert=PARTS)
    protocol_error: MockProtocolError | None = key(
        "Refuse the request with a JSON-RPC error.", default=None, inert=PARTS
    )
    delay_ms: _Milliseconds = key(
        "How long to wait before the answer, in milliseconds.", default=0, inert=CHOICE
    )
    delay_max_ms: _Milliseconds | None = key(
        "Longest wait, in milliseconds: each call waits a different time between delay_ms and this.",
        default=None,
        inert=CHOICE,
    )

    @property
    def ways(self) -> list[str]:
        """Which answers it has; a sound one has at most one."""
        return [name for name in _ANSWERS if name in self.model_fields_set]

    @override
    def check(self) -> None:
        faults = list(_reply_faults(self))
        if faults:
            raise Faulty(*faults)


def _reply_faults(reply: MockReply) -> list[Fault]:
    faults: list[Fault] = []
    ways = reply.ways
    if len(ways) > 1 and not (isinstance(reply, MockReplies) and reply.fail_every is not None):
        faults.append(Fault((ways[1],), f"{ways[0]!r} and {ways[1]!r} are two answers", "keep one of them"))
    if "structured" in reply.model_fields_set and reply.content is None:
        faults.append(Fault(("structured",), "stands beside content only", "write response: instead"))
    if reply.delay_max_ms is not None and reply.delay_max_ms < reply.delay_ms:
        faults.append(Fault(("delay_max_ms",), f"must be at least delay_ms, which is {reply.delay_ms}"))
    return faults


class _Complete(MockReply):
    """One answer that has to be there."""

    @override
    def check(self) -> None:
        super().check()
        if not self.ways:
            raise Faulty(Fault((), "says no answer", "add one of " + ", ".join(_ANSWERS)))


class MockAnswer(_Complete):
    """One answer of several."""


class MockChoice(_Complete):
    """One answer of several, drawn by chance."""

    weight: Annotated[float, WithoutVariable(strict=False)] = key(
        "The weight of this answer among the choices.", above=0, most=1000000, default=1.0, inert=CHOICE
    )


class MockRandom(Record):
    """Answers drawn by chance, always the same row of them for one seed."""

    seed: Annotated[int, WithoutVariable()] = key(
        "The seed of the random sequence of answers.", default=0, inert=CHOICE
    )
    choices: tuple[MockChoice, ...] = key("The answers to choose from.", least=1, inert=PARTS)


class MockReplies(MockReply):
    """An answer, or several by turns or by chance."""

    sequence: tuple[MockAnswer, ...] | None = key(
        "Answers in order, one for each call.", least=1, default=None, served=True, inert=PARTS
    )
    then: Literal["repeat_last", "cycle", "fail"] = key(
        "How to answer after the end of the sequence.", default="repeat_last", inert=CHOICE
    )
    random: MockRandom | None = key("Answers chosen at random.", default=None, served=True, inert=PARTS)
    fail_every: int | None = key(
        "Every n-th call fails, with error or protocol_error where one is given.",
        least=1,
        most=1_000_000,
        default=None,
        inert=CHOICE,
    )

    @property
    def main_ways(self) -> list[str]:
        """Which answers it has, without those that fail_every is for."""
        failing = ("error", "protocol_error") if self.fail_every is not None else ()
        several = [name for name in ("sequence", "random") if getattr(self, name) is not None]
        return [name for name in self.ways if name not in failing] + several

    @property
    def by_turns(self) -> bool:
        """Whether the answer depends on those before it."""
        return any(value is not None for value in (self.sequence, self.random, self.fail_every))

    @override
    def check(self) -> None:
        super().check()
        ways = self.main_ways
        if len(ways) > 1:
            message = f"{ways[0]!r} and {ways[1]!r} are two answers"
            raise Faulty(Fault((ways[1],), message, "keep one of them"))
        if self.fail_every is not None and self.error and self.protocol_error:
            raise Faulty(Fault(("protocol_error",), "'error' and 'protocol_error' are two failures"))
        if "then" in self.model_fields_set and self.sequence is None:
            raise Faulty(Fault(("then",), "says what comes after a sequence", "add sequence"))


class MockRule(MockReplies):
    """What is answered when its conditions hold."""

    when: Conditions = key(_WHEN_SAYS, inert=CHOICE)

    @override
    def check(self) -> None:
        super().check()
        if not self.main_ways:
            known = ", ".join((*_ANSWERS, "sequence", "random"))
            raise Faulty(Fault((), "says no answer", f"add one of {known}"))


class RuledReplies(MockReplies):
    """An answer for some arguments and for all others: the whole of what a mock answers."""

    rules: tuple[MockRule, ...] = key(
        "Answers for some arguments: the first rule whose when holds decides.",
        default=(),
        served=True,
        inert=PARTS,
    )

    @property
    def answers_by_turns(self) -> bool:
        """Whether an answer, that of a rule too, depends on those before it."""
        return any(replies.by_turns for replies in (self, *self.rules))

    @property
    def otherwise(self) -> MockReplies | None:
        """What is answered where no rule holds; ``None`` where that is not said."""
        return self if self.main_ways or not self.rules else None
