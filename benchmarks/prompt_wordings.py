"""``python -m benchmarks.prompt_wordings MODEL``: what a model makes of each wording of the prompt format,
beside its native tool calls.

MODEL is written ``provider/model``. ``--real NAME`` starts an engine and weights of ``make real-models``
instead. 24 questions at temperature 0: an answer is right when every expected call was made and no other
tool was called where none is needed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from tests.real_models.bench import CONFIG
from tests.real_models.engine import llama_server
from tests.real_models.weights import KNOWN, engine, weights_file
from toolspan_bridge import (
    BridgeError,
    Question,
    Toolbox,
    answer,
    judge,
    load_suite,
    resolve_model,
    servers_of,
)
from toolspan_bridge.formats.prompt.wordings import WORDINGS
from toolspan_bridge.loop import DEFAULT_SYSTEM
from toolspan_server import load_config

QUESTIONS = Path(__file__).parent / "questions" / "tools.yaml"
NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Figure:
    """How many answers were right, how many questions ended in an error, and the seconds of them all."""

    right: int
    errors: int
    seconds: float


async def measured(model: str, toolbox: Toolbox, *, told: bool) -> Figure:
    """Put every question to ``model``; ``told`` prints what was wrong."""
    right, errors, began = 0, 0, time.monotonic()
    provider, name = resolve_model(model)
    try:
        for scenario in load_suite(QUESTIONS).scenarios:
            question = Question(
                scenario.query, name, DEFAULT_SYSTEM, max_iterations=3, max_tokens=120, temperature=0.0
            )
            try:
                verdict = judge(scenario.expect, await answer(question, provider, toolbox))
            except BridgeError as error:
                errors += 1
                print(f"    error: {scenario.query}: {error}", flush=True)
                continue
            right += verdict.success
            if told and not verdict.success:
                print(f"    wrong: {scenario.query}: {'; '.join(verdict.reasons)[:160]}", flush=True)
    finally:
        await provider.aclose()
    return Figure(right, errors, time.monotonic() - began)


async def compare(model: str, ways: Sequence[str], *, told: bool) -> None:
    """Print a row for each of ``ways``: native calls, and the wordings."""
    total = len(load_suite(QUESTIONS).scenarios)
    async with Toolbox.connect(servers_of(load_config(CONFIG))) as toolbox:
        for way in ways:
            asked = model if way == NATIVE else f"prompt.{way}:{model}"
            figure = await measured(asked, toolbox, told=told)
            each = figure.seconds / total
            print(f"{way:24} {figure.right:3} / {total}  {figure.errors} errors  {each:5.1f} s", flush=True)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prompt_wordings", description=__doc__)
    parser.add_argument("model", nargs="?", help="provider/model")
    parser.add_argument("--real", choices=sorted(KNOWN), help="weights of make real-models")
    parser.add_argument("--only", action="append", choices=[NATIVE, *WORDINGS], help="may repeat")
    parser.add_argument("--threads", type=int, default=2, help="of the engine (default: %(default)s)")
    parser.add_argument("--wrong", action="store_true", help="print what was wrong")
    options = parser.parse_args()
    ways = options.only or [NATIVE, *WORDINGS]
    if not options.real:
        if not options.model:
            parser.error("name a model, or --real")
        anyio.run(lambda: compare(options.model, ways, told=options.wrong))
        return
    import os

    with TemporaryDirectory() as folder:
        weights, log = weights_file(KNOWN[options.real]), Path(folder) / "engine.log"
        with llama_server(engine(), weights, log, threads=options.threads) as base:
            os.environ["LLAMACPP_BASE_URL"] = f"{base}/v1"
            anyio.run(lambda: compare(f"llamacpp/{options.real}", ways, told=options.wrong))


if __name__ == "__main__":
    main()
