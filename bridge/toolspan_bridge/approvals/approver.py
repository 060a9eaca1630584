"""The approver of the command line: rules, flags, earlier answers, and the person, in that order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolspan_server.engines.upstreams import ListedTool

from ..errors import StoreError
from .definition import Departure
from .mentions import run_judging
from .patterns import CallFiles, Pattern, RuledCall, names_tool
from .person import EditedCall
from .policy import OutwardPolicy, Policy, asks_itself, reason_to_ask
from .request import Approval, ApprovalRequest, find_reason
from .sandbox import lacks_sandbox

if TYPE_CHECKING:
    from toolspan_server.config import ApprovalRule

    from .person import Person, PersonAnswer
    from .remembered import Remembered

NOBODY = "pass an approver"
DEFINITION_REMEDY = "look at the definition with toolspan lock --check, accept it with toolspan lock"
FilesOf = Callable[[str, ListedTool], CallFiles]
"""Where the paths of a server's tool begin, and how it reads them."""

DepartureOf = Callable[[str, ListedTool], Departure | None]
"""How a server's tool differs from what is known of it, if it does."""


@dataclass(frozen=True, slots=True)
class _Ruled:
    """What a rule says of a call, and its ``reason``. ``is_doubtful``: one that denies may mean it."""

    action: str
    reason: str = ""
    is_doubtful: bool = False


_DOUBTFUL = "a rule denies files, and nobody can tell whether the arguments name one"


class PolicyApprover:
    """Decides by ``policy`` which calls need approval, and who or what gives it.

    The first of ``rules`` that applies counts, under the policy ``rules``; one that denies counts under every
    policy. Where nobody can tell whether one that denies applies, the person is asked, whatever else would
    allow the call. Rules are about the arguments as the tool gets them, with its defaults. ``allowed`` are
    globs of tools that a flag allows. ``remembered`` are the person's earlier answers, which count for no
    tool that runs commands without a sandbox; ``person`` is asked last. Without one the call is denied, and
    ``remedy`` says how it would be allowed. Paths of rules begin at ``base``, or where ``files_of`` says of
    the tool.

    A call with ``facts`` (it would carry data outward after something was read that needs care) is asked
    about under every policy, unless ``outward`` says otherwise, a rule or ``allowed`` names it, or an earlier
    answer in the conversation was given about the same facts. Where nobody can be asked, it is made if
    nothing else needs a decision and what the user typed states it.

    A tool of another definition than ``departure_of`` knows is asked about whatever else would allow it.

    An answer about a call with ``facts`` whose arguments the person changed counts for that call: the
    facts are those of other arguments. An answer that cannot be remembered counts for its call, and
    ``report`` is told why; without ``report`` the ``StoreError`` is raised. ``typed``: the person wrote the
    calls themselves.
    """

    def __init__(
        self,
        policy: Policy = "destructive",
        allowed: Sequence[str] = (),
        remedy: str = NOBODY,
        *,
        rules: Sequence[ApprovalRule] = (),
        remembered: Remembered | None = None,
        person: Person | None = None,
        base: Path | None = None,
        files_of: FilesOf | None = None,
        departure_of: DepartureOf | None = None,
        report: Callable[[str], None] | None = None,
        outward: OutwardPolicy = "ask",
        typed: bool = False,
    ) -> None:
        self._policy: Policy = policy
        self._allowed = tuple(allowed)
        self._remedy = remedy
        self._rules = tuple(rules)
        self._remembered = remembered
        self._person = person
        self._files_of: FilesOf = files_of or _all_at(base)
        self._departure_of = departure_of
        self._report = report
        self._outward: OutwardPolicy = outward
        self._typed = typed

    def with_person(self, person: Person) -> PolicyApprover:
        """The same approver, with ``person`` to be asked last."""
        asking = copy(self)
        asking._person = person
        return asking

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        """Why the call needs a decision; empty when it needs none."""
        if departure := self._departure(server, tool):
            return departure.reason
        rule = self._rule(server, tool, arguments)
        if rule is not None and rule.is_doubtful:
            return _DOUBTFUL + (f" ({rule.reason})" if rule.reason else "")
        if rule is not None and (rule.action != "allow" or asks_itself(tool)):
            return {"deny": "a rule denies it", "ask": "a rule says so"}.get(rule.action, "a rule allows it")
        if rule is not None:
            return ""
        if asks_itself(tool):
            return reason_to_ask(tool, "destructive", typed=self._typed)
        return reason_to_ask(tool, self._policy, typed=self._typed)

    async def decide(self, request: ApprovalRequest) -> Approval:
        """The decision of the first that has one."""
        rule = await self._judged(request)
        if rule is not None and rule.action == "deny":
            return Approval(allowed=False, decider="rule", reason=rule.reason or "a rule denies it")
        if departure := self._departure(request.server, request.tool):
            return await self._departed(request, departure)
        if rule is not None and rule.is_doubtful:
            return await self._asked(request, is_doubtful=True)
        if rule is not None and rule.action == "allow":
            return Approval(allowed=True, decider="rule")
        if request.facts and self._outward == "allow":
            if not await self._needs_more(request):
                return Approval(allowed=True, decider="policy")
            request = replace(request, facts=())
        if self._policy == "never" and not request.facts:
            return Approval(allowed=True, decider="policy")
        if names_tool(self._allowed, request.server, request.tool.name):
            return Approval(allowed=True, decider="flag")
        if request.facts and self._outward == "deny":
            text = f"{request.reason} (approvals.outward of the config denies it)"
            return Approval(allowed=False, decider="policy", reason=text)
        return await self._asked(request)

    async def _needs_more(self, request: ApprovalRequest) -> bool:
        """Whether the call would need a decision without its facts too."""
        return bool(await find_reason(self, request.server, request.tool, request.arguments))

    async def _departed(self, request: ApprovalRequest, departure: Departure) -> Approval:
        if departure.remedy:
            text = f"{departure.reason} ({departure.remedy})"
            return Approval(allowed=False, decider="lock", reason=text)
        return await self._asked(request, departure)

    async def _asked(
        self, request: ApprovalRequest, departure: Departure | None = None, *, is_doubtful: bool = False
    ) -> Approval:
        remembered = None if is_doubtful or lacks_sandbox(request) else self._remembered
        if remembered is not None:
            files = self._files_of(request.server, request.tool)
            work = partial(remembered.answer, request, files, departure)
            known = await run_judging(request.arguments, work)
            if known.approval is not None:
                return known.approval
            departure = departure or known.departure
        if self._person is None and request.stated and not await self._needs_more(request):
            return Approval(allowed=True, decider="policy", reason="the user's message states the call")
        if self._person is None:
            remedy = DEFINITION_REMEDY if departure and departure.reason else self._remedy
            text = f"{request.reason}, and there is nobody to ask here ({remedy})"
            return Approval(allowed=False, decider="policy", reason=text)
        asked = await self._put_to(self._person, request, departure)
        if isinstance(asked, Approval):
            return asked
        shown, answer = asked
        changed = None if shown.arguments == request.arguments else shown.arguments
        if remembered is not None and not (request.facts and changed is not None):
            self._keep(remembered, shown, answer, departure)
        return replace(answer.approval, arguments=changed, shown=shown.shown)

    async def _put_to(
        self, person: Person, request: ApprovalRequest, departure: Departure | None
    ) -> tuple[ApprovalRequest, PersonAnswer] | Approval:
        """The answer of ``person`` and the request that it is about, which they saw: with other arguments,
        where they edited those. A denial where a rule denies what they wrote."""
        while True:
            request = await request.previewed()
            answer = await person.ask(request, departure)
            if not isinstance(answer, EditedCall):
                return request, answer
            request = replace(request, arguments=answer.arguments)
            rule = await self._judged(request)
            if rule is not None and rule.action == "deny":
                return Approval(allowed=False, decider="rule", reason=rule.reason or "a rule denies it")

    def _keep(
        self,
        remembered: Remembered,
        request: ApprovalRequest,
        answer: PersonAnswer,
        departure: Departure | None,
    ) -> None:
        try:
            remembered.keep(request, answer, departure)
        except StoreError as error:
            if self._report is None:
                raise
            self._report(f"your answer counts for this call only, as it cannot be kept: {error}")

    def _departure(self, server: str, tool: ListedTool) -> Departure | None:
        return None if self._departure_of is None else self._departure_of(server, tool)

    async def _judged(self, request: ApprovalRequest) -> _Ruled | None:
        work = partial(self._rule, request.server, request.tool, request.arguments)
        return await run_judging(request.arguments, work)

    def _rule(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> _Ruled | None:
        """What the first rule that applies says; of other policies than ``rules``, the first that denies."""
        rules = [each for each in self._rules if self._policy == "rules" or each.action == "deny"]
        if not rules:
            return None
        files = self._files_of(server, tool)
        resolved = tool.complete(arguments)
        call = RuledCall(server, tool.name, arguments if resolved is None else resolved, files)
        known = call if resolved is None else replace(call, arguments=_heeded(tool, resolved, files))
        doubtful: _Ruled | None = None
        for rule in rules:
            pattern = Pattern(rule.tools, rule.servers, rule.arguments, rule.paths)
            if rule.action == "allow":
                is_whole = resolved is not None or (rule.paths is None and not rule.arguments)
                if is_whole and pattern.covers_call(known):
                    return doubtful or _Ruled("allow")
                continue
            touched = pattern.touches_call(call, below=rule.action == "ask")
            if touched == "no" and resolved is None and pattern.names(server, tool.name):
                touched = "perhaps"
            if touched == "yes" or (touched == "perhaps" and rule.action == "ask"):
                is_denied = rule.action == "deny" or doubtful is None
                return _Ruled(rule.action, rule.reason or "") if is_denied else doubtful
            if touched == "perhaps" and doubtful is None:
                doubtful = _Ruled("ask", rule.reason or "", is_doubtful=True)
        return doubtful


def _heeded(tool: ListedTool, arguments: Mapping[str, Any], files: CallFiles) -> Mapping[str, Any]:
    """Of ``arguments`` those that the tool looks at: our own leave out what their schema does not have."""
    known = tool.schema.get("properties")
    if not files.works_as or not isinstance(known, Mapping):
        return arguments
    return {name: value for name, value in arguments.items() if name in known}


def _all_at(base: Path | None) -> FilesOf:
    return lambda _server, _tool: CallFiles(base or Path.cwd())
