"""Which tool was called where which one was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..storage.trial import Trial

__all__ = ["NO_TOOL", "called_tools", "confusion", "expected_tools"]

NO_TOOL = ""
"""Stands for no tool: none expected, or none called."""


def confusion(trials: Iterable[Trial]) -> dict[tuple[str, str], int]:
    """How often each pair of an expected and a called tool was seen.

    Each expected call is paired with a call of its tool, and what is then left of both in order; ``NO_TOOL``
    is the partner of what has none. Calls beyond the expected ones count where no call was expected. Trials
    that do not tell what was expected, as those of earlier versions, are left out.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for trial in trials:
        expected = expected_tools(trial)
        if expected is not None:
            pairs.update(_paired(expected, called_tools(trial)))
    return dict(pairs)


def expected_tools(trial: Trial) -> tuple[str, ...] | None:
    """The tools that the trial's scenario expects to be called; none where it says that none may be. ``None``
    where it expects nothing of calls, or that is not known."""
    expected = trial.details.get("expected")
    if not isinstance(expected, Mapping):
        return None
    told = cast("Mapping[str, Any]", expected)
    calls = _names(told.get("calls"))
    return calls if calls or told.get("no_calls") else None


def called_tools(trial: Trial) -> tuple[str, ...]:
    """The tools that the model called, in order."""
    calls = trial.details.get("tool_calls")
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        return ()
    made = (
        cast("Mapping[str, Any]", call)
        for call in cast("Sequence[object]", calls)
        if isinstance(call, Mapping)
    )
    return tuple(str(call.get("tool", "")) for call in made)


def _paired(expected: Sequence[str], called: Sequence[str]) -> list[tuple[str, str]]:
    if not expected:
        return [(NO_TOOL, tool) for tool in called] or [(NO_TOOL, NO_TOOL)]
    same = Counter(expected) & Counter(called)
    wanted, others = _without(expected, same), _without(called, same)
    others += [NO_TOOL] * (len(wanted) - len(others))
    return [(tool, tool) for tool in same.elements()] + list(zip(wanted, others, strict=False))


def _without(names: Sequence[str], taken: Counter[str]) -> list[str]:
    left, kept = Counter(taken), list[str]()
    for name in names:
        if left[name]:
            left[name] -= 1
        else:
            kept.append(name)
    return kept


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(str(name) for name in cast("Sequence[object]", value))
