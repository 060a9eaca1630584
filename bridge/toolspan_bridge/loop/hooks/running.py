"""Runs the hooks of a question, one after the other, each within its time."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import anyio

from ...approvals.patterns import names_tool
from ...events import HookRan
from ...toolbox import Toolbox
from .contract import Hook, HookDecision, HookInput

__all__ = ["Consulted", "HookRunner"]

_KEYS = ("deny", "text", "system", "content", "arguments", "result")


@dataclass(frozen=True, slots=True)
class Consulted:
    """What became of ``given``; ``denied`` says why it was denied, if it was; and what ran."""

    given: HookInput
    denied: str
    events: tuple[HookRan, ...]


class HookRunner:
    """The ``hooks`` of a question; those that are tools are called with ``toolbox``, unhooked.
    ``model`` is the one that is asked."""

    def __init__(self, hooks: Sequence[Hook], toolbox: Toolbox, model: str = "") -> None:
        self._hooks = hooks
        self._toolbox = toolbox
        self._model = model

    async def consult(self, given: HookInput) -> Consulted:
        """Run the hooks of that point, each on what those before it made of ``given``, until one denies."""
        given = replace(given, model=self._model)
        events: list[HookRan] = []
        for hook in self._hooks:
            if not _concerns(hook, given):
                continue
            decision, fault = await self._run(hook, given)
            denied = decision.deny if decision else fault if fault and hook.on_error == "deny" else ""
            changes = {} if decision is None or denied else _changes(decision)
            outcome: Literal["passed", "changed", "denied", "failed"]
            outcome = "denied" if denied else "failed" if fault else "changed" if changes else "passed"
            events.append(
                HookRan(hook.name, given.point, outcome, denied or fault, given.tool, given.call_id)
            )
            if denied:
                return Consulted(given, denied, tuple(events))
            given = replace(given, **changes)
        return Consulted(given, "", tuple(events))

    async def _run(self, hook: Hook, given: HookInput) -> tuple[HookDecision | None, str]:
        """What ``hook`` says, and how it failed, if it did."""
        try:
            with anyio.fail_after(hook.seconds):
                return await self._decision(hook, given), ""
        except TimeoutError:
            return None, f"the hook {hook.name} took longer than {hook.seconds:g} seconds"
        except Exception as error:
            return None, f"the hook {hook.name} failed: {type(error).__name__}: {str(error)[:500]}"

    async def _decision(self, hook: Hook, given: HookInput) -> HookDecision | None:
        if hook.function is None:
            return await self._by_tool(hook, given)
        if inspect.iscoroutinefunction(hook.function):
            found = await hook.function(given)
        else:
            found = await anyio.to_thread.run_sync(hook.function, given, abandon_on_cancel=True)
        if found is not None and not isinstance(found, HookDecision):
            raise TypeError(f"it gave {type(found).__name__}, not a HookDecision or None")
        return found

    async def _by_tool(self, hook: Hook, given: HookInput) -> HookDecision | None:
        server, _, name = hook.tool.rpartition("/")
        spec = next((tool for tool in self._toolbox.tools if tool.key == (server, name)), None)
        if spec is None:
            raise LookupError(f"there is no tool {hook.tool}")
        outcome = await self._toolbox.call(spec, given.as_dict(), "hook", approved=True)
        if outcome.failed:
            raise RuntimeError(str(outcome.result.get("error")))
        said = outcome.result.get("result")
        if said is None or said == "":
            return None
        if not isinstance(said, Mapping) or not set(cast("Mapping[str, Any]", said)) <= set(_KEYS):
            raise TypeError(f"it gave no object with keys of {', '.join(_KEYS)}")
        return HookDecision(**cast("dict[str, Any]", said))


def _concerns(hook: Hook, given: HookInput) -> bool:
    if hook.point != given.point:
        return False
    return hook.tools is None or not given.tool or names_tool(hook.tools, given.server, given.tool)


def _changes(decision: HookDecision) -> dict[str, Any]:
    names = ("text", "system", "content", "arguments")
    changes = {name: value for name in names if (value := getattr(decision, name)) is not None}
    return changes if decision.result is None else {**changes, "result": {"result": decision.result}}
