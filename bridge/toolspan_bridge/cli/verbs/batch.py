"""``toolspan batch submit|status|collect|cancel``: ask many questions at once, at half the price."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import click

from ...errors import BridgeError, StoreError, UsageError
from ...messages import ReasoningEffort, Reply, Request, User
from ...providers import Provider, ProviderPool
from ...sessions.chosen.config import ConfigChoice
from ...sessions.chosen.default_model import default_model
from ..inputs.options import config_options, json_option, read_config, reasoning_option
from ..inputs.questions import read_questions
from ..module_group import SubcommandGroup
from ..terminal.output import (
    emit_json,
    emit_text,
    heading,
    print_message,
    print_note,
)

if TYPE_CHECKING:
    from ...batch import Batch, BatchStatus

EXIT_UNANSWERED = 1
"""The exit code when a question of a batch has no whole answer."""

_T = TypeVar("_T")
_WHOLE = ("stop", "other")

_saved = click.argument("file", default="batch.json", type=click.Path(path_type=Path))


@click.group(name="batch", cls=SubcommandGroup, example="toolspan batch submit questions.jsonl")
def command() -> None:
    """Ask many questions at once by a provider's batch service, which answers within a day, usually at half
    the price.

    `submit` writes a small FILE (batch.json) that the other verbs take; it holds no key. A model without a
    batch service is refused with exit code 2.
    """


@command.command(name="submit", example="toolspan batch submit questions.jsonl")
@click.argument("questions")
@click.option(
    "-m", "--model", metavar="PROVIDER/MODEL", help="Who answers all of them. Default: $TOOLSPAN_MODEL."
)
@click.option("--system", metavar="TEXT", default="", help="The system prompt of each question.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="batch.json",
    show_default=True,
    type=click.Path(path_type=Path),
    help="What the other verbs come back to the batch by; must not be there yet.",
)
@reasoning_option
@config_options
@json_option
def submit(
    questions: str,
    model: str | None,
    system: str,
    output: Path,
    reasoning: ReasoningEffort | None,
    choice: ConfigChoice,
    as_json: bool,
) -> None:
    """Submit the QUESTIONS of a file.

    It has JSON lines, each {"id": "monday", "question": "Will it rain?"}; - is stdin.

    The questions are asked without tools: nobody would carry the calls out.
    """
    from ...batch import submit_batch

    asked = read_questions(questions)
    if os.path.lexists(output):
        raise UsageError(f"{output} is there already: collect that batch first, or choose another --output")
    if not output.absolute().parent.is_dir():
        raise UsageError(f"{output}: there is no such folder")

    async def run(provider: Provider, name: str) -> Batch:
        requests = {
            key: Request(name, (User(text),), system=system, reasoning=reasoning)
            for key, text in asked.items()
        }
        return await submit_batch(provider, requests)

    batch = _at_provider(choice, model or default_model(), run)
    _save(batch, output)
    if as_json:
        emit_json({"id": batch.id, **_place(batch), "requests": len(batch.ids), "file": str(output)})
    else:
        print_message(f"{_named(batch)}: submitted with {len(batch.ids):,} questions, saved as {output}")


@command.command(name="status", example="toolspan batch status batch.json")
@_saved
@config_options
@json_option
def status(file: Path, choice: ConfigChoice, as_json: bool) -> None:
    """Tell how far the batch of FILE is."""
    from ...batch import Batch, poll_batch

    batch = Batch.load(file)
    _show(batch, _at(choice, batch, poll_batch), as_json=as_json)


@command.command(name="cancel", example="toolspan batch cancel batch.json")
@_saved
@config_options
@json_option
def cancel(file: Path, choice: ConfigChoice, as_json: bool) -> None:
    """Have the batch of FILE ended. What is answered by then can be collected, when it has stopped running.

    A batch that has ended stays as it is.
    """
    from ...batch import Batch, cancel_batch

    batch = Batch.load(file)
    _show(batch, _at(choice, batch, cancel_batch), as_json=as_json)


@command.command(name="collect", example="toolspan batch collect batch.json")
@_saved
@config_options
@json_option
def collect(file: Path, choice: ConfigChoice, as_json: bool) -> int:
    """Print the answers to the batch of FILE, in its order.

    Exit 1 when a question has no whole answer; the reason is on stderr, or in the JSON. Exit 2 while the
    batch runs. It may be repeated: nothing is removed at the provider.
    """
    from ...batch import Batch, collect_batch

    batch = Batch.load(file)
    answers = _at(choice, batch, collect_batch)
    if as_json:
        emit_json([{"id": name, **_answer(answer)} for name, answer in answers.items()])
    else:
        _print(answers)
    return EXIT_UNANSWERED if any(_trouble(answer) for answer in answers.values()) else 0


def _at(choice: ConfigChoice, batch: Batch, step: Callable[[Provider, Batch], Awaitable[_T]]) -> _T:
    """What ``step`` gives for ``batch`` at its provider."""

    async def run(provider: Provider, name: str) -> _T:
        return await step(provider, batch)

    return _at_provider(choice, f"{batch.provider}/{batch.model}", run)


def _at_provider(choice: ConfigChoice, model: str, step: Callable[[Provider, str], Awaitable[_T]]) -> _T:
    config = read_config(choice, needed=False, keys=("providers", "models"))

    async def run() -> _T:
        async with ProviderPool(config) as providers:
            return await step(*await providers.get(model))

    return anyio.run(run)


def _save(batch: Batch, output: Path) -> None:
    try:
        batch.save(output)
    except StoreError as fault:
        kept = batch.to_json().decode()
        raise StoreError(
            f"{fault.message}; the batch runs all the same: keep this as its file:\n{kept}"
        ) from None


def _show(batch: Batch, found: BatchStatus, *, as_json: bool) -> None:
    if as_json:
        counts = {"total": found.total, "succeeded": found.succeeded, "failed": found.failed}
        state = {"state": found.state, "finished": found.finished, **counts, "trouble": found.trouble or None}
        emit_json({"id": batch.id, **_place(batch), **state})
        return
    failed = f", {found.failed:,} failed" if found.failed else ""
    trouble = f": {found.trouble}" if found.trouble else ""
    print_message(
        f"{_named(batch)}: {found.state}, {found.succeeded:,} of {found.total:,} answered{failed}{trouble}"
    )


def _place(batch: Batch) -> dict[str, str]:
    return {"provider": batch.provider, "model": batch.model}


def _named(batch: Batch) -> str:
    return f"batch {batch.id} of {batch.provider}/{batch.model}"


def _answer(answer: Reply | BridgeError) -> dict[str, Any]:
    if isinstance(answer, BridgeError):
        return {"error": {"code": answer.code, "message": answer.message}}
    usage = {"stop": answer.stop, "usage": answer.usage.as_dict()}
    sources = [source.as_dict() for source in answer.message.citations]
    return {"content": answer.message.text, **usage, **({"citations": sources} if sources else {})}


def _trouble(answer: Reply | BridgeError) -> str:
    """Why ``answer`` is none, or no whole one; empty for a whole one."""
    if isinstance(answer, BridgeError):
        return answer.message
    return "" if answer.stop in _WHOLE else f"the answer is not whole ({answer.stop})"


def _print(answers: Mapping[str, Reply | BridgeError]) -> None:
    for name, answer in answers.items():
        if isinstance(answer, Reply):
            heading(name)
            emit_text(answer.message.text)
        if trouble := _trouble(answer):
            print_note(f"{name}: {trouble}")
