"""What formats lose of tools, found and sorted: the findings of ``toolspan lint``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from .formats import TOO_MANY_TOOLS, Loss, get_format
from .formats.names import NameTable
from .formats.shared.contract import Severity
from .loop import most_tools
from .messages import ToolSpec
from .trust.invisible_text import invisible_texts

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The worst first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One loss, and the formats that have it. ``server`` and ``name`` are the tool's own."""

    loss: Loss
    server: str
    name: str
    formats: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """``{"formats", "server", "name"}`` and the keys of ``Loss``; ``tool`` is the name on the wire."""
        return {
            "formats": list(self.formats),
            "server": self.server,
            "name": self.name,
            **asdict(self.loss),
        }


@dataclass(frozen=True, slots=True)
class Lint:
    """The findings of ``tools`` in ``formats``, the worst first.

    ``searched`` are the formats in which there are more tools than are sent at once, with how many those
    are: a model finds the tools that it needs with a search there.
    """

    tools: tuple[ToolSpec, ...]
    formats: tuple[str, ...]
    findings: tuple[Finding, ...]
    searched: Mapping[str, int] = field(default_factory=dict[str, int])

    def summary(self) -> dict[str, dict[str, int]]:
        """For each format how many tools are sent or found, and its findings of each severity."""
        every = NameTable.of(self.tools).as_dict()
        sent: dict[str, dict[str, int]] = {}
        for name in self.formats:
            found = [finding for finding in self.findings if name in finding.formats]
            gone = {finding.loss.tool for finding in found if finding.loss.leaves_out}
            counts = Counter(finding.loss.severity for finding in found)
            sent[name] = {
                "sent": len(every.keys() - gone),
                **{severity: counts[severity] for severity in SEVERITIES},
            }
        return sent

    def fails(self, threshold: Severity) -> bool:
        """Whether a finding is at least as bad as ``threshold``."""
        bad = SEVERITIES[: SEVERITIES.index(threshold) + 1]
        return any(finding.loss.severity in bad for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """``{"tools": count, "summary": …, "searched": {format: most}, "findings": [Finding.as_dict()]}``."""
        return {
            "tools": len(self.tools),
            "summary": self.summary(),
            "searched": dict(self.searched),
            "findings": [finding.as_dict() for finding in self.findings],
        }


def lint(tools: Sequence[ToolSpec], formats: Sequence[str], offered: int | None = None) -> Lint:
    """What ``formats`` lose of ``tools`` when a model is asked. A loss that several formats have alike is one
    finding. ``offered`` is how many tools a config lets be sent at once.

    Raises ``KeyError`` for a format that there is not.
    """
    keys = NameTable.of(tools).as_dict()
    found: dict[Loss, list[str]] = {}
    for name in formats:
        for loss in dict.fromkeys(asked_losses(name, tools)):
            found.setdefault(loss, []).append(name)
    for loss in _hidden(tools):
        found.setdefault(loss, []).extend(formats)
    findings = [Finding(loss, *keys[loss.tool], tuple(names)) for loss, names in found.items()]
    findings.sort(key=_order)
    limits = {name: most_tools(offered, name) for name in formats}
    searched = {name: most for name, most in limits.items() if most is not None and len(keys) > most}
    return Lint(tuple(tools), tuple(formats), tuple(findings), searched)


def asked_losses(format_name: str, tools: Sequence[ToolSpec]) -> list[Loss]:
    """What the format ``format_name`` loses of ``tools`` when a model is asked, which may search for them.

    Raises ``KeyError`` for a format that there is not.
    """
    return [loss for loss in get_format(format_name).losses(tools) if loss.rule != TOO_MANY_TOOLS]


def _hidden(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What hides from people in the definitions goes to every model as it is."""
    names = NameTable.of(tools)
    fix = "write the text without them; if it is not yours, ask yourself what they are there for"
    return [
        Loss(
            names.wire(tool),
            one.pointer.removeprefix("/schema"),
            "hidden-characters",
            f"as it is, with {', '.join(one.characters)}",
            "warning",
            fix,
        )
        for tool in names.tools
        for one in invisible_texts(tool)
    ]


def tools_asking_strict(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """``tools``, each asking for strict mode: shows which could have it."""
    return tuple(replace(tool, strict=True) for tool in tools)


def _order(finding: Finding) -> tuple[int, str, str, str, str]:
    loss = finding.loss
    return (SEVERITIES.index(loss.severity), loss.tool, loss.pointer, loss.rule, loss.repair)
