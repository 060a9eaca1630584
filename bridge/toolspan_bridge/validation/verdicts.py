"""Whether an answer is what its scenario expects. Pure: no I/O, no model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..events import Answer, ToolUse
from ._clean import clean_text, cut_text
from ._matching import fits
from .suites import Expect, ExpectedCall

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
    its own, in any order. ``no_calls`` and ``never`` also count calls that failed. A broken answer is
    never a success.
    """
    called = [call.tool for call in answer.tool_calls]
    reasons = [f"the answer is incomplete ({answer.stop}): {answer.reason}"] if answer.broken else []
    reasons += _missing_calls(expect.calls, answer.tool_calls)
    if expect.no_calls and called:
        reasons.append(f"no tool was to be called, but {_listed(called)} was")
    reasons += [f"{tool} must not be called, but was" for tool in expect.never if tool in called]
    if expect.answer and not any(rule.holds(answer.content) for rule in expect.answer):
        wanted = " or ".join(str(rule) for rule in expect.answer)
        reasons.append(f"the answer does not {wanted} (it is {_shown(answer.content)})")
    return Verdict(tuple(reasons))


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
    return call.tool == want.tool and all(
        name in (call.arguments or {}) and fits(value, (call.arguments or {})[name])
        for name, value in want.arguments.items()
    )


def _why_missing(want: ExpectedCall, made: Sequence[ToolUse]) -> str:
    same = [call for call in made if call.tool == want.tool]
    if not same:
        called = _listed([call.tool for call in made]) if made else "no tool"
        return f"{want.tool} was not called ({called} was)"
    asked = [call for call in same if _asks(want, call)]
    if not asked:
        got = "; ".join(_shown(call.arguments) for call in same)
        return f"{want.tool} was not called with {_shown(want.arguments)} (it got {got})"
    if failed := [call for call in asked if not call.result.get("success")]:
        return f"{want.tool} was called, but failed: {_shown(failed[-1].result.get('error', ''))}"
    return f"{want.tool} was called too few times ({len(asked)})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return repr(cut_text(clean_text(text), _SHOWN)) if isinstance(value, str) else cut_text(text, _SHOWN)
