"""One case of the leaderboard, and whether the calls that a model made are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .function_call import Language, MadeCall, call_misfit, function_of
from .unscorable import Unscorable

Calls = Sequence[MadeCall] | None
"""What a model called; ``None`` when something of it was no function call with an object of arguments."""


@dataclass(frozen=True, slots=True)
class BfclCase:
    """A line of a category's file. ``messages`` are of its one turn, ``{"role", "content"}`` each;
    ``functions`` and ``accepted``, the calls ``[{name: {argument: [values]}}]``, are as the files have
    them."""

    id: str
    category: str
    messages: tuple[Mapping[str, Any], ...]
    functions: list[Mapping[str, Any]]
    accepted: list[Mapping[str, Any]]

    @property
    def language(self) -> Language:
        """The language in whose terms the functions are described."""
        if "javascript" in self.category:
            return "javascript"
        return "java" if "java" in self.category else "python"

    def fault_of(self, calls: Calls, *, underscored: bool = False) -> str:
        """Why ``calls`` are not right, by the rules of BFCL's own checker; empty where they are.

        With ``underscored``, the names in ``calls`` have ``_`` for ``.``, as those of models do whose
        providers take no dot in a name.
        """
        if "relevance" in self.category:
            return self._relevance_fault(calls)
        if calls is None:
            return "a call has no object of arguments, so that the answer is no list of function calls"
        try:
            return self._calls_fault(calls, underscored)
        except Unscorable as error:
            return f"BFCL's checker ends with an error: {error}"

    def _relevance_fault(self, calls: Calls) -> str:
        if "irrelevance" in self.category:
            names = ", ".join(repr(call.name) for call in calls or ())
            return f"no function was to be called, but {names} was" if calls else ""
        return "" if calls else "a function was to be called, but none was"

    def _calls_fault(self, calls: Sequence[MadeCall], underscored: bool) -> str:
        parallel = "parallel" in self.category
        wanted = len(self.accepted) if parallel or "multiple" in self.category else 1
        if len(calls) != wanted:
            made = f" ({', '.join(call.name for call in calls)})" if calls else ""
            return f"{len(calls)} calls were made{made}, expected {wanted}"
        if parallel:
            return self._parallel_fault(list(calls), underscored)
        truth = self.accepted[0]
        function = self._function(truth) if "multiple" in self.category else self.functions[0]
        return call_misfit(function, calls[0], truth, self.language, underscored=underscored)

    def _parallel_fault(self, left: list[MadeCall], underscored: bool) -> str:
        """Each accepted call takes, in their order, the first call that fits it; none gives its call back."""
        for truth in self.accepted:
            function = self._function(truth)
            faults: list[str] = []
            for index, call in enumerate(left):
                why = call_misfit(function, call, truth, self.language, underscored=underscored)
                if not why:
                    del left[index]
                    break
                faults.append(f"{call.name}: {why}")
            else:
                return f"no call fits the expected {function['name']!r} ({'; '.join(faults)})"
        return ""

    def _function(self, truth: Mapping[str, Any]) -> Mapping[str, Any]:
        return function_of(self.functions, next(iter(truth)))
