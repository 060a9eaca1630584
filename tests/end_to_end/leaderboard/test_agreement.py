"""Recorded answers get the verdicts of the leaderboard's own checker, over all of its data.

The checker and the data are those of ``bfcl_eval``, which is installed from PyPI, without what it needs to
ask models, into an environment of its own; set TOOLSPAN_NODE_TESTS=1 to let the tests install it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import IO, Any, cast

import pytest

from tests.support.bfcl_answers import Call, calls_of_turn, changed_calls, right_calls, text_of
from tests.support.cli import toolspan_process
from tests.support.foreign_programs import NODE_TESTS, python_with

pytestmark = [
    pytest.mark.long,
    pytest.mark.node,
    pytest.mark.xdist_group("interop"),
    pytest.mark.requirement("I14.6.39"),
]

PACKAGES = ("bfcl_eval==2026.3.23", "mpmath==1.3.0")
CHECKER = Path(__file__).parents[2] / "support" / "bfcl_checker.py"
ONE_TURN = (
    *("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
)
CONVERSATIONS = ("base", "miss_func", "miss_param", "long_context")
CONVERSATIONS_EACH = 100


@dataclass(frozen=True)
class Leaderboard:
    """The package, in the environment of ``python``."""

    python: Path

    @cached_property
    def data(self) -> Path:
        """The folder of its data."""
        with self._asked() as (_, stdout):
            return Path(json.loads(stdout.readline()))

    def verdicts(self, asked: Iterable[Mapping[str, Any]]) -> Iterator[bool]:
        """What its checker says of each."""
        with self._asked() as (stdin, stdout):
            stdout.readline()
            for each in asked:
                stdin.write(json.dumps(each) + "\n")
                stdin.flush()
                yield json.loads(stdout.readline())

    def lines(self, file: str) -> list[dict[str, Any]]:
        """The lines of one of its files."""
        return [json.loads(line) for line in (self.data / file).read_text().splitlines() if line.strip()]

    def cases(self, category: str) -> Iterator[tuple[dict[str, Any], Any]]:
        """The cases of a category, each with what is accepted."""
        file = f"BFCL_v4_{category}.json"
        truths = {line["id"]: line["ground_truth"] for line in self.lines(f"possible_answer/{file}")}
        return ((case, truths[case["id"]]) for case in self.lines(file))

    @contextmanager
    def _asked(self) -> Iterator[tuple[IO[str], IO[str]]]:
        command = [str(self.python), "-I", str(CHECKER)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)


@pytest.fixture(scope="module")
def leaderboard() -> Leaderboard:
    if not NODE_TESTS:
        pytest.skip("NOT RUN: the leaderboard's checker; set TOOLSPAN_NODE_TESTS=1 to install and run it")
    return Leaderboard(python_with("bfcl", "--no-deps", *PACKAGES))


def scored(suite: Path, answers: Sequence[Mapping[str, Any]], folder: Path, **environment: str) -> list[bool]:
    """What ``validate`` says of each answer, by the command that a person gives."""
    lines = "".join(json.dumps(each) + "\n" for each in answers)
    words = ("validate", "--suite", f"bfcl:{suite}", "--answers", "-", "--json")
    ran = toolspan_process(*words, cwd=folder, stdin=lines, **environment)
    assert ran.code in (0, 6), ran.err
    told = {each["id"]: each["success"] for each in map(json.loads, ran.out.splitlines()) if "id" in each}
    return [told[each["id"]] for each in answers]


def agreed(asked: Sequence[Mapping[str, Any]], ours: Sequence[bool], theirs: Sequence[bool]) -> None:
    """The verdicts are the same; there are both kinds."""
    differ = [each for each, own, other in zip(asked, ours, theirs, strict=True) if own != other]
    assert not differ, f"{len(differ)} of {len(asked)} differ: {json.dumps(differ[:3])}"
    assert set(ours) == {True, False}


def _answer(calls: Iterable[Call]) -> list[dict[str, Any]]:
    return [{"name": name, "arguments": given} for call in calls for name, given in call.items()]


@pytest.mark.parametrize("seed", range(10))
def test_answers_of_one_turn_are_right_where_the_checker_says_so(
    leaderboard: Leaderboard, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    asked: list[dict[str, Any]] = []
    for category in ONE_TURN:
        for case, truth in leaderboard.cases(category):
            calls = right_calls(truth, random, as_text="java" in category)
            if seed:  # of the first all are as they are accepted
                calls = changed_calls(calls, [each["name"] for each in case["function"]], random)
            asked.append({"category": category, "case": case, "truth": truth, "calls": calls})
    answers = [{"id": each["case"]["id"], "calls": _answer(each["calls"])} for each in asked]
    agreed(asked, scored(leaderboard.data, answers, tmp_path), list(leaderboard.verdicts(asked)))


@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_conversations_are_right_where_the_checker_says_so(
    leaderboard: Leaderboard, tmp_path: Path, kind: str
) -> None:
    random, category = Random(kind), f"multi_turn_{kind}"
    asked: list[dict[str, Any]] = []
    for case, truth in leaderboard.cases(category):
        turns = [calls_of_turn(texts) for texts in truth]
        if len(asked) < CONVERSATIONS_EACH and None not in turns:
            made = cast("list[list[Call]]", turns)
            if len(asked) % 2:
                index = random.choice([index for index, calls in enumerate(made) if calls])
                made[index] = changed_calls(
                    made[index], [name for call in made[index] for name in call], random
                )
            asked.append({"category": category, "case": case, "truth": truth, "made": made})
    answers = [
        {"id": each["case"]["id"], "turns": [{"calls": _answer(calls)} for calls in each["made"]]}
        for each in asked
    ]
    theirs = leaderboard.verdicts(
        [{**each, "turns": [[text_of(call) for call in calls] for calls in each["made"]]} for each in asked]
    )
    suite = leaderboard.data / f"BFCL_v4_{category}.json"
    ours = scored(suite, answers, tmp_path, TOOLSPAN_BFCL_PYTHON=str(leaderboard.python))
    agreed(asked, ours, list(theirs))
