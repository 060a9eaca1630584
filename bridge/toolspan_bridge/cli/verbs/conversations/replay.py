"""``toolspan conversations replay``: run a saved conversation again, offline."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import aclosing
from typing import Any

import anyio
import click

from ....conversation import Conversation
from ....conversation.log import Log
from ....conversation.questions import question_places
from ....loop.replay import Difference, Replayed, replay
from ....sessions.approving import approver_of
from ....sessions.asker import RoutedAsker
from ....sessions.chosen.approvals import LOCAL_PRINCIPAL, ApprovalChoice
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.stored import store_of
from ....sessions.session import opened
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.approvals import approval_options
from ...inputs.options import config_options, json_option, read_config, servers_option, workspace_option
from ...module_group import Verb
from ...terminal.of_events.lines import hook_line
from ...terminal.output import compact, emit_json, print_message

EXIT_DIFFERENT = 1


@click.command(name="replay", cls=Verb, example="toolspan conversations replay ID --live-tools")
@click.argument("conversation", metavar="ID", shell_complete=completed.conversations)
@click.option("--live-tools", is_flag=True, help="Call the config's tools, as they are approved.")
@approval_options
@config_options
@workspace_option
@servers_option
@json_option
def command(
    conversation: str, live_tools: bool, approvals: ApprovalChoice, choice: ConfigChoice, as_json: bool
) -> int:
    """Run the conversation ID again without a model, and show what comes out differently.

    The model's turns come from the record, and so do the tools and their results; with --live-tools the
    config's tools are called as they are now, with its hooks of calls. What the bridge performs with a model
    or a person (Task, ExitPlanMode) comes from the record then too, which is said. The exit code is 1 when
    anything differs.
    """
    config = read_config(choice, needed=False)
    store = store_of(config, choice, TERMINAL)
    log = store.read(store.find(conversation))
    done = anyio.run(_replayed, log.conversation, choice if live_tools else None, approvals)
    if as_json:
        questions = [
            {
                "number": each.number,
                "question": each.text,
                "calls": each.calls,
                "differences": [difference.as_dict() for difference in each.differences],
                "hooks": hooks,
                "from_record": list(each.recorded),
            }
            for each, hooks in zip(done, _hooks(log), strict=True)
        ]
        emit_json({"questions": questions})
    else:
        _show(done, _hooks(log))
    return EXIT_DIFFERENT if any(each.differences for each in done) else 0


async def _replayed(
    recorded: Conversation, choice: ConfigChoice | None, approvals: ApprovalChoice
) -> list[Replayed]:
    if choice is None:
        return await _all(recorded)
    async with opened(choice, TERMINAL) as session:
        approver = approver_of(session, approvals, recorded.id, LOCAL_PRINCIPAL)
        async with RoutedAsker(session) as asker:
            again = replay(recorded, session.toolbox.for_models(), approver, asker.hooks)
            async with aclosing(again) as questions:
                return [each async for each in questions]


async def _all(recorded: Conversation) -> list[Replayed]:
    async with aclosing(replay(recorded)) as questions:
        return [each async for each in questions]


def _hooks(log: Log) -> list[list[dict[str, Any]]]:
    """What hooks did then, of each question."""
    places = question_places(log.conversation.messages)
    found: list[list[dict[str, Any]]] = [[] for _ in places]
    for note in log.notes if places else ():
        if note.kind == "hook":
            found[max(0, bisect_right(places, note.place) - 1)].append(dict(note.data))
    return found


def _show(done: list[Replayed], hooks: list[list[dict[str, Any]]]) -> None:
    for each, ran in zip(done, hooks, strict=True):
        print_message(f"[{each.number}] {compact(each.text, 100)}")
        for line in filter(None, map(hook_line, ran)):
            print_message(f"  then:{line[1:]}")
        for name in each.recorded:
            print_message(f"    {name}: as recorded; not called, as it needs a model or a person")
        for difference in each.differences:
            print_message(_line(difference))
    calls, different = sum(each.calls for each in done), sum(len(each.differences) for each in done)
    print_message(f"questions: {len(done)}, calls: {calls}, differences: {different}")


def _line(difference: Difference) -> str:
    what = difference.call or "the answer"
    return f"    {what}:\n      then: {_value(difference.recorded)}\n      now:  {_value(difference.now)}"


def _value(value: object) -> str:
    return "nothing" if value is None or value == "" else compact(value)
