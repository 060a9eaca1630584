"""``validate --generate``: a suite made of tools."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from ....errors import UsageError
from ....sessions.chosen.config import ConfigChoice
from ....sessions.session import Session, opened
from ....validation import Asker, Expect, Scenario
from ....validation.generation import (
    Generated,
    LeftOut,
    generate,
    generated_text,
    rewritten,
    subject_of,
)
from ...host import TERMINAL
from ...terminal.output import emit_json, emit_table, print_note
from ...terminal.program import command_line
from ...terminal.waiting.waits import waiting
from .writing import STDOUT, check_place, write_suite


def generate_suite(
    choice: ConfigChoice, place: str, seed: int, model: str | None, *, force: bool, as_json: bool
) -> int:
    """Write a suite made of the tools that ``choice`` leads to to ``place``, with queries in the words of
    ``model`` where one is named; say what could not be made.

    Raises ``UsageError`` when ``place`` was edited and ``force`` is not given, and when no scenario can be
    made; as ``opened``, and as the provider of ``model``.
    """
    check_place(place, force=force)

    async def made() -> tuple[Generated, int]:
        async with opened(choice, TERMINAL) as session:
            tools = session.tools()
            subjects = [subject_of(tool, session.toolbox.definition(tool)) for tool in tools]
            generated = generate(subjects, seed)
            return (await _reworded(generated, model, session) if model else generated), len(tools)

    generated, tools = anyio.run(made)
    if not generated.drafts:
        raise UsageError(f"no scenario can be made of these tools: {_why(generated.left_out)}")
    count = len(generated.drafts)
    comments = [
        f"{count} scenarios for {tools} tool{'' if tools == 1 else 's'}, made with seed {seed} by `toolspan "
        "validate --generate`. Run them with `toolspan validate --suite FILE`.",
        "The calls in them are answered by mocks: no tool is really called. Edit them as you like.",
    ]
    write_suite(place, generated_text(generated, "generated", comments))
    _tell(generated, place, choice, as_json=as_json)
    return 0


async def _reworded(generated: Generated, model: str, session: Session) -> Generated:
    """``generated`` with queries in the words of ``model``; those that stay as they are, are said."""
    from ....toolbox import Toolbox

    async with Asker(session.config, Toolbox([]), on_note=print_note) as asker:

        async def ask(question: str) -> str:
            with waiting(f"a query in the words of {model}"):
                scenario = Scenario(query=question, expect=Expect(max_iterations=1))
                return (await asker.ask(model, scenario)).last.content

        done = await rewritten(generated.drafts, ask)
    for name, why in done.kept:
        print_note(f"{name}: the plain query stays: {why}")
    return Generated(done.drafts, generated.left_out)


def _tell(generated: Generated, place: str, choice: ConfigChoice, *, as_json: bool) -> None:
    """Say what was written, what was left out and why, and what comes next."""
    for each in generated.left_out:
        print_note(f"left out: {each.tool} ({each.category}): {each.why}")
    if as_json and place != STDOUT:
        left_out = [
            {"tool": each.tool, "category": each.category, "why": each.why} for each in generated.left_out
        ]
        emit_json({"path": place, "categories": dict(generated.counts), "left_out": left_out})
        return
    if place == STDOUT:
        return
    emit_table(("category", "scenarios"), [(name, str(count)) for name, count in generated.counts.items()])
    print_note(f"{place} was written: {len(generated.drafts)} scenarios")
    same = [part for path in choice.paths for part in ("--config", path)]
    same += [part for server in choice.servers for part in ("--server", server)]
    print_note(f"next: {command_line('validate', *same, '--suite', place)}")


def _why(left_out: Sequence[LeftOut]) -> str:
    return (
        "; ".join(f"{each.tool}: {each.why}" for each in left_out[:3])
        or "there is nothing that could be asked"
    )
