"""A provider that replays recorded turns: for tests, demonstrations and reports of a fault.

``scripted/PATH.yaml`` reads a file, ``Scripted([...])`` takes the turns in code. A turn is one answer:

    turns:
      - text: Let me look.                       optional
        pieces: ["Let me ", look.]               optional: the text as a stream brings it, instead of `text`
        reasoning: They want the weather.        optional: for streams only
        calls:                                   optional
          - tool: get_weather                    its own name, or the name on the wire
            arguments: {location: Paris}         an object; or text, read as a model's raw arguments
            id: call_1                           optional
        usage: {input_tokens: 12, output_tokens: 5}
        stop: stop                               stop, length, refusal, pause or other
        incomplete: true                         optional: the stream broke off here
        after_ms: 50                             optional: it comes after so many milliseconds
        silent: true                             optional: then nothing more comes, and no end
      - error: {kind: provider, message: overloaded, status: 529}
                                                 kind: auth, unreachable, unknown_model or provider

In place of ``turns``, which are given one for each request, ``answers`` are found by the question:

    answers:
      - to: weather                              it holds this text, in any case; without it any question
        turns: [...]                             the turns of this answer
      - times: [[...], [...]]                    or those of the first time, of the second …, and so on again
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import yaml
from typing_extensions import override

from toolspan_server.common.regular_files import read_regular

from ....errors import UsageError
from ....formats.names import NameTable
from ....messages import Reply, Request
from ....messages.deltas import Delta
from ...contract import Provider, pieces
from ...wire.json_types import is_list, is_object
from ._by_question import ByQuestion
from ._in_order import InOrder, Turn
from ._places import check_place, only_in
from ._turns import RecordedTurn, mapping

__all__ = ["Scripted", "Turn", "connect", "only_in"]

_MOST_BYTES = 16 * 1024 * 1024


def connect(model: str) -> Provider:
    """The script in the file ``model``. Raises ``UsageError`` that says what is wrong with it, and where."""
    check_place(model)
    try:
        content = yaml.safe_load(read_regular(model, _MOST_BYTES).decode("utf-8"))
    except OSError as error:
        raise UsageError(f"the script {model} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the script {model} cannot be read: it is no UTF-8") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"the script {model} is no YAML: {_fault(error)}") from None
    script: Mapping[str, Any] = content if is_object(content) else {}
    if "answers" in script and "turns" in script:
        raise UsageError(f"the script {model} has `turns` and `answers`: write one of them")
    if "answers" in script:
        return Scripted(answers=script["answers"], source=model)
    turns: Any = script.get("turns")
    if not is_list(turns) or not turns:
        raise UsageError(f"the script {model} holds no turns: write `turns:` and a list under it")
    return Scripted([mapping(turn, f"{model}: $.turns[{n}]") for n, turn in enumerate(turns)], source=model)


def _fault(error: yaml.YAMLError | RecursionError) -> str:
    """What is wrong, and where, without a line of the file."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return (
            "it is nested too deep" if isinstance(error, RecursionError) else "it has characters of no text"
        )
    return f"{error.problem} (line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1})"


class Scripted(Provider):
    """Answers with ``turns``, one for each request; or with those of ``answers``, by the question.
    ``requests`` holds what it was asked, in order.

    Raises ``UsageError`` at once when a turn or an answer is not as the package says.
    """

    name = "scripted"

    def __init__(
        self,
        turns: Sequence[Turn] = (),
        *,
        answers: Sequence[Mapping[str, Any]] | None = None,
        source: str = "the script",
    ) -> None:
        self.requests: list[Request] = []
        self._script = InOrder(turns, source) if answers is None else ByQuestion(answers, source)

    @override
    async def answer(self, request: Request) -> Reply:
        """The next turn, its tools under the names that ``request`` gives them. Raises the turn's error if it
        is one, and ``ProviderError`` when there are no more turns."""
        turn, reply = await self._next(request)
        if turn.silent:
            await anyio.sleep_forever()
        return reply

    @override
    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The next turn in its recorded pieces, and whole. Raises as ``answer``."""
        turn, reply = await self._next(request)
        for delta in turn.deltas:
            yield delta
        for delta in _calls(reply):
            yield delta
        if turn.silent:
            await anyio.sleep_forever()
        yield reply

    async def _next(self, request: Request) -> tuple[RecordedTurn, Reply]:
        place = len(self.requests)
        self.requests.append(request)
        turn = self._script.next(request)
        await anyio.sleep(turn.wait)
        if turn.error:
            raise turn.error()
        return turn, _named(turn.reply, NameTable.of(request.tools), place)

    @override
    async def aclose(self) -> None:
        """There is nothing to close."""


def _calls(reply: Reply) -> Iterator[Delta]:
    """The calls of ``reply`` as a stream brings them, without its text."""
    if reply.message.calls:
        yield from pieces(replace(reply, message=replace(reply.message, text="")))


def _named(reply: Reply, names: NameTable, place: int) -> Reply:
    if not reply.message.calls:
        return reply
    calls = tuple(
        replace(call, id=call.id or f"call_{place + 1}_{number}", name=_wire_name(call.name, names))
        for number, call in enumerate(reply.message.calls, start=1)
    )
    return replace(reply, message=replace(reply.message, calls=calls))


def _wire_name(name: str, names: NameTable) -> str:
    """The wire name of the one tool called ``name``; ``name`` itself when it is a wire name or no tool's."""
    known = names.as_dict()
    owners = [wire for wire, (_, own) in known.items() if own == name]
    return owners[0] if name not in known and len(owners) == 1 else name
