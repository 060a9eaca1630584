"""``toolspan lint``: report what a provider's format loses of the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import anyio
import click

from ...findings import (
    SEVERITIES,
    Finding,
    Lint,
    lint,
    tools_asking_strict,
)
from ...formats import format_names
from ...formats.shared.contract import Severity
from ...messages import ToolSpec
from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import opened
from ..host import TERMINAL
from ..inputs.options import config_options, json_option, locked_option, server_option, tool_options
from ..long_lists import all_option, grouped, is_too_long, note_how_to_see_all
from ..module_group import Verb
from ..terminal.output import (
    emit_json,
    emit_table,
    print_message,
    print_note,
)

EXIT_LOSS = 7


@click.command(name="lint", cls=Verb, example="toolspan lint --format gemini --fail-on warning")
@click.option(
    "-f",
    "--format",
    "format_name",
    default="all",
    show_default=True,
    type=click.Choice((*format_names(), "all")),
    help="The wire format.",
)
@click.option(
    "--fail-on",
    default="error",
    show_default=True,
    type=click.Choice(SEVERITIES),
    help="Exit 7 when there is a finding as bad as this.",
)
@click.option("--strict", is_flag=True, help="As if every tool asked for the providers' strict mode.")
@server_option
@config_options
@locked_option
@tool_options
@all_option
@json_option
def command(
    format_name: str,
    fail_on: str,
    strict: bool,
    server: str | None,
    choice: ConfigChoice,
    show_all: bool,
    as_json: bool,
) -> int:
    """Report what a wire format cannot express of the tools: where, by which rule, what is sent instead, and
    how to write it so that nothing is lost. docs/reference/formats.md explains the rules.

    error: the provider would refuse it, so the tool is left out. warning: it would be ignored, or is
    dropped. info: it is expressed in another way, or undone on the way back. Exit 7 at or above --fail-on.
    Tools beyond a provider's limit are no loss: a model finds them with a search.

    At a terminal many findings are counted by rule: --all shows each, --tool GLOB those of some tools.
    """
    tools, offered = anyio.run(_tools, choice, server)
    asked = tools_asking_strict(tools) if strict else tools
    outcome = lint(asked, format_names() if format_name == "all" else (format_name,), offered)
    threshold = cast("Severity", fail_on)
    failed = outcome.fails(threshold)
    if as_json:
        emit_json({"ok": not failed, "fail_on": fail_on, **outcome.as_dict()})
    else:
        _show(outcome, show_all=show_all)
    return EXIT_LOSS if failed else 0


async def _tools(choice: ConfigChoice, server: str | None) -> tuple[tuple[ToolSpec, ...], int | None]:
    """The tools, and how many of them the config lets be sent at once."""
    async with opened(choice, TERMINAL, server=server) as session:
        return session.tools(), session.config.limits.tools_offered


def _show(outcome: Lint, *, show_all: bool) -> None:
    if is_too_long(len(outcome.findings), show_all=show_all):
        _count_by_rule(outcome.findings)
    else:
        _show_findings(outcome)
    rows = [(name, *(str(count) for count in counts.values())) for name, counts in outcome.summary().items()]
    emit_table(("format", f"sent of {len(outcome.tools)}", *SEVERITIES), rows)
    for most, names in _searched(outcome).items():
        print_note(
            f"{', '.join(names)}: more tools than are sent at once ({most}): a model finds those that it "
            "needs with a search"
        )


def _count_by_rule(findings: Sequence[Finding]) -> None:
    groups = grouped(((each.loss.severity, each.loss.rule), each.loss.tool) for each in findings)
    rows = [(*each.key, str(each.count), each.such_as) for each in groups]
    emit_table(("severity", "rule", "findings", "of tools such as"), rows)
    note_how_to_see_all(len(findings), "findings")
    print_message("")


def _show_findings(outcome: Lint) -> None:
    for finding in outcome.findings:
        _show_finding(finding, every=1 < len(finding.formats) == len(outcome.formats))


def _searched(outcome: Lint) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, most in outcome.searched.items():
        found.setdefault(most, []).append(name)
    return found


def _show_finding(finding: Finding, *, every: bool) -> None:
    loss = finding.loss
    where = "every format" if every else ", ".join(finding.formats)
    print_message(f"{loss.severity}: {loss.tool} {loss.pointer or '(the whole tool)'}: {loss.rule} ({where})")
    print_message(f"    sent: {loss.repair}")
    print_message(f"    fix: {loss.fix}\n")
