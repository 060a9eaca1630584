"""Models that behave in one way each give exactly the figures that arithmetic says, over real sockets and as
scripts, in every report. Each scenario of ``examples/scripted_models`` is asked ten times."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import junitparser
import pytest

from tests.support.cli import Ran, toolspan
from tests.support.documents import ROOT
from tests.support.fake_providers.known_models import KnownModels
from toolspan_bridge.validation import STORE_FILE, Store

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.6.2")]

EXAMPLE = ROOT / "examples" / "scripted_models"
TRIALS = 10
ALL, MOST, THIRD, NONE = (0.886487, 1.0), (0.626943, 0.904949), (0.192305, 0.512199), (0.0, 0.113513)
"""Where |p - k/30| = 1.959964 · √(p (1 - p) / 30), for k = 30, 24, 10 and 0."""
RIGHT = {("get_weather", "get_weather"): 10, ("calculate", "calculate"): 10, ("", ""): 10}


@dataclass(frozen=True)
class Known:
    """What is to come out for a model: the numbers of each scenario (weather, product, greeting) and all that
    follows from them."""

    successes: tuple[int, int, int] = (10, 10, 10)
    n: tuple[int, int, int] = (10, 10, 10)
    errors: int = 0
    interval: tuple[float, float] = ALL
    status: str = "validated"
    text: str = "validated (n=30, 100 %, 88–100 %)"
    pass_2: Fraction | None = Fraction(1)
    pass_10: Fraction | None = Fraction(1)
    flaky: tuple[str, ...] = ()
    rescued: int = 0
    confusion: dict[tuple[str, str], int] = field(default_factory=lambda: dict(RIGHT))
    reasons: dict[str, int] = field(default_factory=dict[str, int])


PERFECT = Known()
KNOWN = {
    "perfect": PERFECT,
    "rate-limited": PERFECT,
    "gpt-4o": PERFECT,
    "prints-calls": Known(rescued=20),
    "flaky": Known(
        (8, 8, 8),
        interval=MOST,
        status="provisional",
        text="provisional (n=30, 80 %, 62–91 %)",
        pass_2=Fraction(8 * 7, 10 * 9),
        pass_10=Fraction(0),
        flaky=("weather", "product", "greeting"),
        confusion={
            ("get_weather", "get_weather"): 10,
            ("calculate", "calculate"): 8,
            ("calculate", ""): 2,
            ("", ""): 8,
            ("", "get_weather"): 2,
        },
        reasons={
            'get_weather: argument \'location\' was "Rome", expected "Paris"': 2,
            "calculate was not called (no tool was)": 2,
            "no tool was to be called, but get_weather was": 2,
        },
    ),
    "never-calls": Known(
        (0, 0, 10),
        interval=THIRD,
        status="failed",
        text="failed (n=30, 33 %, 19–52 %)",
        pass_2=Fraction(1, 3),
        pass_10=Fraction(1, 3),
        confusion={("get_weather", ""): 10, ("calculate", ""): 10, ("", ""): 10},
        reasons={
            "get_weather was not called (no tool was)": 10,
            "calculate was not called (no tool was)": 10,
        },
    ),
    "wrong-tool": Known(
        (0, 0, 0),
        interval=NONE,
        status="failed",
        text="failed (n=30, 0 %, 0–12 %)",
        pass_2=Fraction(0),
        pass_10=Fraction(0),
        confusion={
            ("get_weather", "calculate"): 10,
            ("calculate", "get_weather"): 10,
            ("", "get_weather"): 10,
        },
        reasons={
            "wrong tool calculate for get_weather": 10,
            "wrong tool get_weather for calculate": 10,
            "no tool was to be called, but get_weather was": 10,
        },
    ),
    "slow": Known(
        (0, 0, 0),
        interval=NONE,
        status="failed",
        text="failed (n=30, 0 %, 0–12 %)",
        pass_2=Fraction(0),
        pass_10=Fraction(0),
        confusion={("get_weather", ""): 10, ("calculate", ""): 10, ("", ""): 10},
        reasons={"no answer within 5 s": 30},
    ),
    "failing": Known(
        (0, 0, 0),
        (0, 0, 0),
        errors=30,
        interval=(0.0, 1.0),
        status="untested",
        text="untested",
        pass_2=None,
        pass_10=None,
        confusion={},
    ),
}
SCRIPTED = ("perfect", "never-calls", "wrong-tool", "flaky", "prints-calls", "failing")
SERVED = tuple(name for name in KNOWN if name != "slow")


@dataclass(frozen=True)
class Measured:
    """A run that was made, where it is kept, and the models' ids by their names here."""

    folder: Path
    ids: dict[str, str]
    ran: Ran
    slow: Ran
    fake: KnownModels | None
    variables: Mapping[str, str]


def scripted(folder: Path) -> Measured:
    ids = {name: f"scripted/{name.replace('-', '_')}.yaml" for name in (*SCRIPTED, "slow")}
    return measured(folder, ids, SCRIPTED, None)


def served(folder: Path, fake: KnownModels) -> Measured:
    ids = {name: f"openai-chat/{name}" for name in KNOWN}
    variables = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{fake.url}/v1"}
    return measured(folder, ids, SERVED, fake, **variables)


def measured(
    folder: Path, ids: dict[str, str], names: tuple[str, ...], fake: KnownModels | None, **env: str
) -> Measured:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    validate = ("validate", "--suite", "suite.yaml", "--trials", str(TRIALS), "--json")
    models = [word for name in names for word in ("-m", ids[name])]
    ran = toolspan(*validate, *models, cwd=folder, **env)
    # Apart, so that the others have all the time there is.
    slow = toolspan(*validate, "-m", ids["slow"], "--timeout", "5", "--concurrency", "30", cwd=folder, **env)
    return Measured(folder, ids, ran, slow, fake, env)


@pytest.fixture(scope="module", params=["scripts", "sockets"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Measured]:
    folder = tmp_path_factory.mktemp("known")
    if request.param == "scripts":
        yield scripted(folder)
        return
    with KnownModels() as fake:
        yield served(folder, fake)


def report(made: Measured, form: str) -> str:
    ran = toolspan("report", "--format", form, cwd=made.folder, **made.variables)
    assert ran.code == 0, ran.err
    return ran.out


def test_the_run_itself_tells_them(made: Measured) -> None:
    assert (made.ran.code, made.slow.code) == (1, 6), "too many errors of one model; below the threshold"
    models = {each["model_id"]: each for each in (*made.ran.json["models"], *made.slow.json["models"])}
    assert set(models) == set(made.ids.values())
    for name, model_id in made.ids.items():
        known, found = KNOWN[name], models[model_id]
        assert found["test_count"] == sum(known.n), name
        assert found["success_count"] == sum(known.successes), name
        assert found["error_count"] == known.errors, name
        assert found["rescued"] == known.rescued, name
        assert found["badge"]["status"] == known.status, name
        assert found["badge"]["interval"] == list(known.interval), name
        assert [each["success_count"] for each in found["scenarios"]] == list(known.successes), name


def test_the_store_has_each_trial_once(made: Measured) -> None:
    with Store.open(made.folder / ".toolspan" / STORE_FILE) as store:
        for name, model_id in made.ids.items():
            trials, known = store.trials(model_id), KNOWN[name]
            assert len(trials) == 3 * TRIALS, name
            assert sum(trial.is_error for trial in trials) == known.errors, name
            assert sum(trial.success for trial in trials) == sum(known.successes), name
            told: dict[str, int] = {}
            for trial in trials:
                if trial.error and not trial.is_error:
                    told[trial.error] = told.get(trial.error, 0) + 1
            assert told == known.reasons, name


def test_the_json_report_has_every_figure(made: Measured) -> None:
    records = {each["model_id"]: each for each in json.loads(report(made, "json"))["records"]}
    for name, model_id in made.ids.items():
        known, found = KNOWN[name], records[model_id]
        n, successes = sum(known.n), sum(known.successes)
        assert found["counts"] == {
            "n": n,
            "successes": successes,
            "errors": known.errors,
            "rate": round(successes / n, 6) if n else 0.0,
            "interval": list(known.interval),
        }, name
        each = [(scenario["name"], scenario["n"], scenario["successes"]) for scenario in found["scenarios"]]
        expected = zip(("weather", "product", "greeting"), known.n, known.successes, strict=True)
        assert sorted(each) == sorted(expected), name
        tags = {tag["name"]: tag["successes"] for tag in found["tags"]}
        assert tags == dict(zip(("lookup", "sum", "irrelevance"), known.successes, strict=True)), name
        tools = {tool["name"]: tool["successes"] for tool in found["tools"]}
        assert tools == {"get_weather": known.successes[0], "calculate": known.successes[1]}, name
        assert found["pass_k"].get("2") == (known.pass_2 and round(float(known.pass_2), 6)), name
        assert found["pass_k"].get("10") == (known.pass_10 and round(float(known.pass_10), 6)), name
        assert sorted(found["flaky"]) == sorted(known.flaky), name
        pairs = {(pair["expected"] or "", pair["called"] or ""): pair["count"] for pair in found["confusion"]}
        assert pairs == known.confusion, name
        assert (found["badge"]["status"], found["badge"]["text"]) == (known.status, known.text), name


def test_every_other_form_says_the_same(made: Measured) -> None:
    rows = {
        row["model"]: row
        for row in csv.DictReader(io.StringIO(report(made, "csv")))
        if row["kind"] == "record"
    }
    suites = {
        suite.name.partition(" · ")[0]: suite
        for suite in junitparser.JUnitXml.fromstring(report(made, "junit").encode())
    }
    table, page = report(made, "table").splitlines(), report(made, "html")
    markdown, badges = report(made, "markdown").splitlines(), report(made, "badge").splitlines()
    for name, model_id in made.ids.items():
        known = KNOWN[name]
        n, successes, row, suite = sum(known.n), sum(known.successes), rows[model_id], suites[model_id]
        assert [row["n"], row["successes"], row["errors"]] == [str(n), str(successes), str(known.errors)]
        assert (suite.tests, suite.failures, suite.errors) == (30, n - successes, known.errors), name
        (line,) = (line for line in table if line.startswith(f"{model_id}  "))
        assert f"{successes} of {n}  " in line and known.text in line, name
        escaped = model_id.replace(".", "&#46;").replace("_", "&#95;")
        for lines in (markdown, badges):
            (line,) = (line for line in lines if f"<code>{escaped}</code>" in line and known.text in line)
        section = page.partition(f">{model_id} · known</h2>")[2].partition("</section>")[0]
        assert known.text.replace(" %", "&nbsp;%") in section, name
        assert section.count("succeeded</span>") == successes, name
        assert section.count('class="failed">failed: ') == n - successes, name
        assert section.count("error, no trial of the model") == known.errors, name


@pytest.mark.parametrize("made", ["sockets"], indirect=True)  # a script has no rate limit
def test_a_rate_limit_delays_and_is_no_failure(made: Measured) -> None:
    assert made.fake is not None
    assert made.fake.statuses["rate-limited", 429] == 3, "the first time that each question was asked"
    assert made.fake.statuses["rate-limited", 200] == TRIALS * (2 + 2 + 1)


@pytest.mark.parametrize("made", ["sockets"], indirect=True)  # a script has no price
def test_what_a_known_price_costs_is_worked_out(made: Measured) -> None:
    records: list[Any] = json.loads(report(made, "json"))["records"]
    (found,) = (each for each in records if each["model_id"] == made.ids["gpt-4o"])
    answers = TRIALS * (2 + 2 + 1)
    usd = answers * (8 * 2.5 + 3 * 1.25 + 7 * 10) / 1_000_000  # 11 tokens in, of which 3 cached; 7 out
    assert found["cost"]["usd"] == pytest.approx(usd)
    assert found["cost"]["usd_per_success"] == pytest.approx(usd / 30)
    assert found["tokens"] == {"total": answers * 18, "per_success": answers * 18 / 30}
    (unpriced,) = (each for each in records if each["model_id"] == made.ids["perfect"])
    assert unpriced["cost"]["usd"] is None
