"""``python -m benchmarks.prompt_wordings MODEL``: what a model makes of each wording of the prompt format,
beside its native tool calls.

MODEL is written ``provider/model``. ``--real NAME`` starts an engine and weights of ``make real-models``
instead. Two sets of 24 questions at temperature 0, by the second of which no wording was chosen. What counts
is the model's first turn: a question is right when every expected call was made, or none where no tool is
needed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from tests.real_models.bench import CONFIG
from tests.real_models.engine import free_threads, llama_server
from tests.real_models.weights import KNOWN, engine, weights_file
from toolspan_bridge import (
    Answer,
    BridgeError,
    Provider,
    Question,
    Scenario,
    Toolbox,
    judge,
    load_suite,
    resolve_model,
    run,
    servers_of,
)
from toolspan_bridge.events import (
    IterationStarted,
    Text,
    ToolCallFinished,
    ToolCallStarted,
    ToolUse,
)
from toolspan_bridge.formats.prompt.wordings import WORDINGS
from toolspan_bridge.loop import DEFAULT_SYSTEM
from toolspan_bridge.messages import Usage
from toolspan_server import load_config

_FOLDER = Path(__file__).parent / "questions"
SETS = {
    "tools": (_FOLDER / "tools.yaml", CONFIG),
    "held-out": (_FOLDER / "held_out.yaml", _FOLDER / "held_out_tools.yaml"),
}
"""Questions, and the config of the tools that they are about."""

NATIVE = "native"


@dataclass
class Figure:
    """How many questions were right, how many of those need no tool, how many ended in an error, in how many
    calls were ``rescued`` out of the text; and the seconds of them all."""

    right: int = 0
    right_without_tools: int = 0
    errors: int = 0
    rescued: int = 0
    seconds: float = 0.0


class Run:
    """The questions of a set, ``at_once`` at a time, to one model; ``told`` prints what was wrong."""

    def __init__(self, provider: Provider, model: str, toolbox: Toolbox, *, told: bool) -> None:
        self._provider = provider
        self._model = model
        self._toolbox = toolbox
        self._told = told
        self._figure = Figure()

    async def measured(self, scenarios: Sequence[Scenario], at_once: int) -> Figure:
        """Put every question."""
        limit, began = anyio.CapacityLimiter(at_once), time.monotonic()
        async with anyio.create_task_group() as tasks:
            for scenario in scenarios:
                tasks.start_soon(self._put, scenario, limit)
        self._figure.seconds = time.monotonic() - began
        return self._figure

    async def _put(self, scenario: Scenario, limit: anyio.CapacityLimiter) -> None:
        question = Question(
            scenario.query, self._model, DEFAULT_SYSTEM, max_iterations=1, max_tokens=120, temperature=0.0
        )
        async with limit:
            try:
                text, calls = await self._first_turn(question)
            except BridgeError as error:
                self._figure.errors += 1
                print(f"    error: {scenario.query}: {error}", flush=True)
                return
        given = Answer(text, self._model, self._provider.name, calls, Usage(), 1)
        verdict = judge(scenario.expect.model_copy(update={"answer": ()}), given)
        self._figure.right += verdict.success
        self._figure.right_without_tools += verdict.success and scenario.expect.no_calls
        self._figure.rescued += any(use.rescued for use in calls)
        if self._told and not verdict.success:
            print(f"    wrong: {scenario.query}: {'; '.join(verdict.reasons)[:240]}", flush=True)
            print(f"      {text[:160]!r}", flush=True)

    async def _first_turn(self, question: Question) -> tuple[str, tuple[ToolUse, ...]]:
        """What the model says in its first turn, and its calls with their results."""
        said: list[str] = []
        begun: dict[str, ToolCallStarted] = {}
        calls: list[ToolUse] = []
        async with aclosing(run(question, self._provider, self._toolbox, transcript=[])) as events:
            async for event in events:
                match event:
                    case IterationStarted(closing=True):
                        break
                    case Text():
                        said.append(event.text)
                    case ToolCallStarted():
                        begun[event.call_id] = event
                    case ToolCallFinished():
                        call, result = begun[event.call_id], event.outcome.result
                        calls.append(ToolUse(call.tool, call.arguments, result, 1, call.rescued))
                    case _:
                        pass
        return "\n\n".join(said), tuple(calls)


async def compare(model: str, ways: Sequence[str], named: str, at_once: int, *, told: bool) -> None:
    """Print a row for each of ``ways``, native calls and the wordings, with the questions of a set."""
    questions, config = SETS[named]
    scenarios = load_suite(questions).scenarios
    without = sum(scenario.expect.no_calls for scenario in scenarios)
    async with Toolbox.connect(servers_of(load_config(config))) as toolbox:
        for way in ways:
            asked = model if way == NATIVE else f"prompt.{way}:{model}"
            provider, name = resolve_model(asked)
            try:
                figure = await Run(provider, name, toolbox, told=told).measured(scenarios, at_once)
            finally:
                await provider.aclose()
            print(
                f"{named:9} {way:24} {figure.right:3} / {len(scenarios)}  without a tool "
                f"{figure.right_without_tools} / {without}  {figure.errors} errors  "
                f"{figure.rescued} rescued  {figure.seconds / len(scenarios):5.1f} s",
                flush=True,
            )


def main() -> None:
    """Measure, and print the table."""
    options = _options()
    if not options.real:
        _compare_sets(options.model, options)
        return
    with TemporaryDirectory() as folder:
        weights, log = weights_file(KNOWN[options.real]), Path(folder) / "engine.log"
        with llama_server(engine(), weights, log, threads=options.threads, at_once=options.at_once) as base:
            os.environ["LLAMACPP_BASE_URL"] = f"{base}/v1"
            _compare_sets(f"llamacpp/{options.real}", options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prompt_wordings", description=__doc__)
    parser.add_argument("model", nargs="?", help="provider/model")
    parser.add_argument("--real", choices=sorted(KNOWN), help="weights of make real-models")
    parser.add_argument("--only", action="append", choices=[NATIVE, *WORDINGS], help="may repeat")
    parser.add_argument("--set", action="append", dest="sets", choices=list(SETS), help="may repeat")
    parser.add_argument(
        "--threads", type=int, default=free_threads(), help="of the engine (now: %(default)s)"
    )
    parser.add_argument("--at-once", type=int, default=1, help="questions at a time (default: %(default)s)")
    parser.add_argument("--wrong", action="store_true", help="print what was wrong")
    options = parser.parse_args()
    if not options.real and not options.model:
        parser.error("name a model, or --real")
    return options


def _compare_sets(model: str, options: argparse.Namespace) -> None:
    ways = options.only or [NATIVE, *WORDINGS]
    for named in options.sets or SETS:
        anyio.run(lambda: compare(model, ways, named, options.at_once, told=options.wrong))  # noqa: B023


if __name__ == "__main__":
    main()
