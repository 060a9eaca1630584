"""``python -m benchmarks.renderings MODEL``: what a model makes of its own earlier turns, by each rendering
of the calls that it wrote as text, and by each wording of the prompt.

MODEL is written ``provider/model``. ``--real NAME`` starts an engine and weights of ``make real-models``
instead. Six conversations of three turns at temperature 0. Of each turn it is told whether the expected calls
were made, and whether the answer holds what they gave; the later turns alone depend on a rendering.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from tests.real_models.bench import CONFIG
from tests.real_models.engine import free_threads, llama_server
from tests.real_models.weights import KNOWN, engine, weights_file
from toolspan_bridge import (
    BridgeError,
    Conversation,
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
from toolspan_bridge.events import Answer, End, Notice
from toolspan_bridge.formats.prompt.renderings import RENDERINGS
from toolspan_bridge.formats.prompt.wordings import DEFAULT as USUAL_WORDING
from toolspan_bridge.formats.prompt.wordings import WORDINGS
from toolspan_bridge.loop import DEFAULT_SYSTEM
from toolspan_server import load_config

CONVERSATIONS = Path(__file__).parent / "questions" / "conversations.yaml"
WAYS = (*(f"native.{name}" for name in RENDERINGS), *(f"prompt.{name}" for name in WORDINGS))
USUAL = (*(f"native.{name}" for name in RENDERINGS), f"prompt.{USUAL_WORDING}")
_TOLD_AGAIN = "told the results"


class Talks:
    """Conversations with one model, in one way. ``figures`` counts their turns."""

    def __init__(self, provider: Provider, model: str, toolbox: Toolbox, *, seed: int, told: bool) -> None:
        self._provider = provider
        self._model = model
        self._toolbox = toolbox
        self._seed = seed
        self._told = told
        self.figures: Counter[str] = Counter()

    async def hold(self, scenario: Scenario) -> None:
        """Put every turn of ``scenario``, whatever came of the one before."""
        conversation = Conversation()
        for number, turn in enumerate(scenario.asked):
            place = "later" if number else "first"
            self.figures[f"{place} turns"] += 1
            try:
                answer = await self._answer(turn.query, conversation)
            except BridgeError as error:
                self.figures["errors"] += 1
                print(f"    error: {turn.query}: {str(error)[:300]}", flush=True)
                return
            called = judge(turn.expect.model_copy(update={"answer": ()}), answer)
            whole = judge(turn.expect, answer)
            self.figures[f"{place} called"] += called.success
            self.figures[f"{place} answered"] += whole.success and bool(answer.content.strip())
            self.figures["rescued"] += any(use.rescued for use in answer.tool_calls)
            if self._told and not (whole.success and answer.content.strip()):
                print(f"    {scenario.title} {number + 1}: {'; '.join(whole.reasons)[:200]}", flush=True)
                print(f"      {answer.content[:200]!r}", flush=True)

    async def _answer(self, text: str, conversation: Conversation) -> Answer:
        question = Question(
            text,
            self._model,
            DEFAULT_SYSTEM,
            max_iterations=3,
            max_tokens=120,
            temperature=0.0,
            settings={"seed": self._seed},
        )
        async for event in run(question, self._provider, self._toolbox, conversation):
            if isinstance(event, Notice) and _TOLD_AGAIN in event.text:
                self.figures["told again"] += 1
            if isinstance(event, End):
                self.figures["empty"] += not event.answer.content.strip()
                return event.answer
        raise AssertionError("a run ends with End")


async def compare(model: str, ways: Sequence[str], seed: int, *, told: bool, most: int | None) -> None:
    """Print a row for each of ``ways``."""
    scenarios = load_suite(CONVERSATIONS).scenarios[:most]
    async with Toolbox.connect(servers_of(load_config(CONFIG))) as toolbox:
        for way in ways:
            provider, name = resolve_model(f"{way}:{model}")
            talks, began = Talks(provider, name, toolbox, seed=seed, told=told), time.monotonic()
            try:
                for scenario in scenarios:
                    await talks.hold(scenario)
            finally:
                await provider.aclose()
            print(_row(way, talks.figures, time.monotonic() - began), flush=True)


def _row(way: str, figures: Counter[str], seconds: float) -> str:
    turns = figures["first turns"] + figures["later turns"]
    counted = "  ".join(
        f"{place}: called {figures[f'{place} called']}, answered {figures[f'{place} answered']} of "
        f"{figures[f'{place} turns']}"
        for place in ("first", "later")
    )
    others = "  ".join(f"{figures[name]} {name}" for name in ("rescued", "told again", "empty", "errors"))
    return f"{way:24} {counted}  {others}  {seconds / max(turns, 1):5.1f} s a turn"


def main() -> None:
    """Measure, and print the table."""
    options = _options()
    if not options.real:
        _compare(options.model, options)
        return
    with TemporaryDirectory() as folder:
        weights, log = weights_file(KNOWN[options.real]), Path(folder) / "engine.log"
        with llama_server(engine(), weights, log, threads=options.threads) as base:
            os.environ["LLAMACPP_BASE_URL"] = f"{base}/v1"
            _compare(f"llamacpp/{options.real}", options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.renderings", description=__doc__)
    parser.add_argument("model", nargs="?", help="provider/model")
    parser.add_argument("--real", choices=sorted(KNOWN), help="weights of make real-models")
    parser.add_argument(
        "--only", action="append", choices=WAYS, help="may repeat (default: all but other wordings)"
    )
    parser.add_argument("--most", type=int, help="so many conversations (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument(
        "--threads", type=int, default=free_threads(), help="of the engine (now: %(default)s)"
    )
    parser.add_argument("--wrong", action="store_true", help="print what was wrong")
    options = parser.parse_args()
    if not options.real and not options.model:
        parser.error("name a model, or --real")
    return options


def _compare(model: str, options: argparse.Namespace) -> None:
    ways = options.only or USUAL
    anyio.run(lambda: compare(model, ways, options.seed, told=options.wrong, most=options.most))


if __name__ == "__main__":
    main()
