"""``approvals``: which tool calls a person has to allow."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import override

from ....common.call_patterns import RE2_PREFIX, CallPattern, CallRule
from ....common.re2_patterns import compiled
from ....problems import Fault, Faulty
from ....schema.constraints import AfterValidator
from ....schema.keys import CONDITION, DATA, PARTS, only
from ....schema.records import Record, key


def _pattern(text: str) -> str:
    if text.startswith(RE2_PREFIX):
        try:
            compiled(text.removeprefix(RE2_PREFIX))
        except ValueError as error:
            raise ValueError(
                f"not an RE2 pattern: {error} (RE2 has no lookaround and no backreferences)"
            ) from None
    return text


class ApprovalRule(Record):
    """A rule about calls: all of its conditions must hold, and the first that applies is used."""

    action: Literal["allow", "deny", "ask"] = key(
        "What becomes of the calls.",
        inert=only("deny", "ask", reason="it only narrows what is called unasked"),
    )
    tools: tuple[str, ...] | None = key(
        "Globs of tool names, as Write or files/*, with the server before the slash; any tool when absent.",
        default=None,
        inert=CONDITION,
    )
    servers: tuple[str, ...] | None = key(
        "Globs of server names; any server when absent.", default=None, inert=CONDITION
    )
    arguments: dict[str, Annotated[str, AfterValidator(_pattern)]] = key(
        "A pattern for each named argument: a glob of its whole text, or re: and an RE2 pattern to search.",
        factory=dict,
        inert=CONDITION,
    )
    paths: tuple[str, ...] | None = key(
        "Globs of paths, relative to the workspace or the config's folder, that the files of the call lie "
        "in. In a rule that denies, tools of a workspace open no such file, by whatever path.",
        default=None,
        inert=CONDITION,
    )
    reason: str | None = key("What the model is told when the call is denied.", default=None, inert=DATA)

    @property
    def pattern(self) -> CallPattern:
        """The calls that the rule is about."""
        return CallPattern(self.tools, self.servers, self.arguments, self.paths)

    @override
    def check(self) -> None:
        """Check that the rule has a condition."""
        if self.tools is None and self.servers is None and self.paths is None and not self.arguments:
            raise Faulty(
                Fault((), "has no condition", 'name tools, servers, arguments or paths; tools: ["*"] is all')
            )


class ApprovalsConfig(Record):
    """Which tool calls ask, chat and tools call make only after a person allowed them."""

    policy: Literal["never", "always", "destructive", "rules"] | None = key(
        "Which calls need approval: none, all, those of destructive tools, or what the rules say and "
        "otherwise destructive ones. By default rules where there are any, else destructive.",
        default=None,
        inert=only("always", "destructive", "rules", reason="it asks no less than the default"),
    )
    outward: Literal["ask", "deny", "allow"] = key(
        "What becomes of calls that carry data outward once the conversation holds what looks like a secret, "
        "or content from outside: ask a person (without one they are denied), deny, or allow. Holds under "
        "every policy; rules that allow and --approve go before.",
        default="ask",
    )
    rules: tuple[ApprovalRule, ...] = key(
        "Rules about calls; those that deny hold under every policy.", default=(), inert=PARTS
    )

    def call_rules(self) -> tuple[CallRule, ...]:
        """The rules that hold, in order: under another policy than ``rules``, those that deny alone."""
        ordered = self.policy in (None, "rules")
        return tuple(
            CallRule(rule.action, rule.pattern, rule.reason or "")
            for rule in self.rules
            if ordered or rule.action == "deny"
        )
