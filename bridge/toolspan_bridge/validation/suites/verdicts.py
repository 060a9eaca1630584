"""Whether an answer is what its scenario expects. Pure: no I/O, no model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...events import Answer, ToolUse
from .._clean import clean_text, cut_text
from ..expectations import MISSING, fits, told
from .expected import Expect, ExpectedCall

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reasons`` lists everything that is not as expected; without one it is a success."""

    reasons: tuple[str, ...]

    @property
    def success(self) -> bool:
        """Whether everything is as expected."""
        return not self.reasons


def judge(expect: Expect, answer: Answer) -> Verdict:
    """Compare ``answer`` with what was expected.

    A call counts when its tool took it, that is, its result is a success; every expected call needs one of
    its own. ``no_calls``, ``never`` and ``max_calls`` also count calls that failed. A broken answer is never
    a success.
    """
    called = [call.tool for call in answer.tool_calls]
    reasons = [f"the answer is incomplete ({answer.stop}): {answer.reason}"] if answer.broken else []
    reasons += _missing_calls(expect.calls, answer.tool_calls) or _wrong_order(expect, answer.tool_calls)
    if expect.no_calls and called:
        reasons.append(f"no tool was to be called, but {_listed(called)} was")
    reasons += [f"{tool} must not be called, but was" for tool in expect.never if tool in called]
    reasons += _over_limits(expect, answer)
    if expect.answer and not any(rule.holds(answer.content) for rule in expect.answer):
        wanted = " or ".join(str(rule) for rule in expect.answer)
        reasons.append(f"the answer does not {wanted} (it is {_shown(answer.content)})")
    return Verdict(tuple(reasons))


def _over_limits(expect: Expect, answer: Answer) -> list[str]:
    made, turns = len(answer.tool_calls), answer.iterations
    reasons: list[str] = []
    if expect.max_calls is not None and made > expect.max_calls:
        reasons.append(f"{made} calls were made, at most {expect.max_calls} were expected")
    if expect.max_iterations is not None and turns > expect.max_iterations:
        reasons.append(f"it took {turns} turns, at most {expect.max_iterations} were expected")
    return reasons


def _wrong_order(expect: Expect, made: Sequence[ToolUse]) -> list[str]:
    names = _sequence([call.tool for call in expect.calls])
    if expect.order == "ordered" and not _in_order(expect.calls, made):
        return [f"the calls came as {_sequence([call.tool for call in made])}, expected in the order {names}"]
    if expect.order == "parallel":
        turns = {call.iteration for call in made}
        each = ([call for call in made if call.iteration == turn] for turn in turns)
        if all(_missing_calls(expect.calls, together) for together in each):
            return [f"{names} were not called in one turn"]
    return []


def _in_order(expected: Sequence[ExpectedCall], made: Sequence[ToolUse]) -> bool:
    """Whether the expected calls are among those that were made, one after another."""
    rest = iter(made)
    return all(any(_serves(want, call) for call in rest) for want in expected)


def _missing_calls(expected: Sequence[ExpectedCall], made: Sequence[ToolUse]) -> list[str]:
    candidates = [[at for at, call in enumerate(made) if _serves(want, call)] for want in expected]
    taken: dict[int, int] = {}

    def place(want: int, tried: set[int]) -> bool:
        for at in candidates[want]:
            if at not in tried:
                tried.add(at)
                if at not in taken or place(taken[at], tried):
                    taken[at] = want
                    return True
        return False

    return [_why_missing(want, made) for index, want in enumerate(expected) if not place(index, set())]


def _serves(want: ExpectedCall, call: ToolUse) -> bool:
    return _asks(want, call) and bool(call.result.get("success"))


def _asks(want: ExpectedCall, call: ToolUse) -> bool:
    return call.tool == want.tool and not _misfits(want, call)


def _misfits(want: ExpectedCall, call: ToolUse) -> list[str]:
    """What is amiss with the arguments of ``call``, each in words."""
    if call.arguments is None:
        return ["its arguments are no JSON object"] if want.arguments else []
    given = ((name, value, call.arguments.get(name, MISSING)) for name, value in want.arguments.items())
    return [
        f"argument {name!r} {_was(actual)}, {_told(value)}"
        for name, value, actual in given
        if not fits(value, actual)
    ]


def _was(actual: Any) -> str:
    return "was not given" if actual is MISSING else f"was {cut_text(_json(actual), _SHOWN)}"


def _told(expected: Any) -> str:
    return cut_text(told(expected), _SHOWN)


def _why_missing(want: ExpectedCall, made: Sequence[ToolUse]) -> str:
    same = [call for call in made if call.tool == want.tool]
    if not same:
        others = list(dict.fromkeys(call.tool for call in made))
        if len(others) == 1:
            return f"wrong tool {others[0]} for {want.tool}"
        return f"{want.tool} was not called ({_listed(others) if others else 'no tool'} was)"
    asked = [call for call in same if _asks(want, call)]
    if not asked:
        nearest = min((_misfits(want, call) for call in same), key=len)
        return f"{want.tool}: {'; '.join(nearest)}"
    if failed := [call for call in asked if not call.result.get("success")]:
        return f"{want.tool} was called, but failed: {_shown(failed[-1].result.get('error', ''))}"
    return f"{want.tool} was called too few times ({len(asked)})"


def _sequence(names: Sequence[str]) -> str:
    return cut_text(", ".join(names), _SHOWN)


def _json(value: Any) -> str:
    return clean_text(json.dumps(value, ensure_ascii=False, default=str))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return repr(cut_text(clean_text(text), _SHOWN)) if isinstance(value, str) else cut_text(text, _SHOWN)
