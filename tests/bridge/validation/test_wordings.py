"""The choice among wordings, and the store that keeps it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.trials import a_trial
from toolspan_bridge import (
    ChosenWordings,
    Store,
    StoreError,
    Trial,
    WordingChoice,
    read_choices,
)
from toolspan_bridge.formats.prompt.renderings import DEFAULT as RENDERING
from toolspan_bridge.formats.prompt.renderings import RENDERINGS
from toolspan_bridge.formats.prompt.wordings import DEFAULT, WORDINGS
from toolspan_bridge.validation import Measured
from toolspan_bridge.validation.wordings.choosing import choose_wording, ways_of

pytestmark = pytest.mark.requirement("I11.4.4")

MODEL = "ollama/gemma3"
VERSION_1 = Path(__file__).parent / "stores" / "version_1.sql"


def trials(successes: int, tokens: int = 100) -> list[Trial]:
    """Four of them."""
    details = {"usage": {"input_tokens": tokens - 1, "output_tokens": 1}}
    return [a_trial(f"{number}", success=number < successes, details=details) for number in range(4)]


def tried(**successes: int) -> dict[str, list[Trial]]:
    """By the names of wordings and renderings with underscores, and ``native``, the usual rendering; none
    succeeded where not given."""
    given = {name.replace("_", "-"): count for name, count in successes.items()}
    names = ("native", *(name for name in RENDERINGS if name != RENDERING), *WORDINGS)
    return {way: trials(given.get(name, 0)) for name, way in zip(names, ways_of([MODEL]), strict=True)}


def a_choice(wording: str = "json-tools", model: str = MODEL) -> WordingChoice:
    measured = {name: Measured(4, 3, 400) for name in WORDINGS}
    native = {name: Measured(4, 2, 300) for name in RENDERINGS}
    made = "2026-11-21T10:00:00.123Z"
    return WordingChoice(model, wording, Measured(4, 2, 300), measured, made, "cut", native)


@pytest.mark.parametrize(
    ("successes", "wording", "better"),
    [
        ({"json_tools": 4, "tools_first": 3, "native": 3}, "json-tools", "prompt"),
        ({"rules_first": 3, "native": 4}, "rules-first", "native"),
        ({"rules_first": 3, "tools_first": 3, "json_tools": 3, "native": 3}, DEFAULT, "equal"),
        ({"tools_first_brief": 3, "rules_first": 3}, "rules-first", "prompt"),
    ],
)
def test_the_wording_with_most_successes_is_chosen_and_of_equal_ones_the_default(
    successes: dict[str, int], wording: str, better: str
) -> None:
    choice = choose_wording(MODEL, tried(**successes))
    assert choice is not None and (choice.wording, choice.better) == (wording, better)


@pytest.mark.requirement("I25.4.9")
@pytest.mark.parametrize(
    ("successes", "rendering", "better"),
    [
        ({"cut": 4, "native": 3, "json_tools": 3}, "cut", "native"),
        ({"cut": 3, "native": 3, "json_tools": 3}, RENDERING, "equal"),
        ({"cut": 3, "native": 2, "json_tools": 4}, "cut", "prompt"),
    ],
)
def test_the_rendering_with_most_successes_is_chosen_and_stands_for_native_calls(
    successes: dict[str, int], rendering: str, better: str
) -> None:
    choice = choose_wording(MODEL, tried(**successes))
    assert choice is not None and (choice.rendering, choice.better) == (rendering, better)
    assert choice.renderings[rendering] == choice.native
    assert ("by the rendering" in choice.text) == (rendering != RENDERING)


@pytest.mark.requirement("I25.4.9")
def test_a_choice_of_an_earlier_version_has_the_usual_rendering() -> None:
    earlier = {name: each for name, each in a_choice().as_dict().items() if not name.startswith("rendering")}
    choice = WordingChoice.from_json(json.dumps(earlier))
    assert (choice.rendering, choice.renderings) == (RENDERING, {})


def test_of_equal_ones_but_the_default_the_one_with_fewer_tokens_is_chosen() -> None:
    fewer = {f"prompt.tools-first-brief:{MODEL}": trials(3, tokens=50)}
    choice = choose_wording(MODEL, {**tried(tools_first_brief=3, rules_first=3), **fewer})
    assert choice is not None and (choice.wording, choice.chosen.tokens) == ("tools-first-brief", 4 * 50)


def test_nothing_is_chosen_where_one_way_was_not_tried() -> None:
    assert choose_wording(MODEL, {**tried(json_tools=4), MODEL: []}) is None
    assert choose_wording(MODEL, {MODEL: trials(4)}) is None


def test_choices_are_kept_and_replaced_model_by_model(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    other = a_choice("rules-first", "ollama/qwen3")
    for choice in (a_choice("tools-first-brief"), other, a_choice()):
        with Store.open(path) as store:
            store.choose(choice)
    assert read_choices(path) == {MODEL: a_choice(), "ollama/qwen3": other}
    chosen = ChosenWordings(path)
    assert (chosen(MODEL), chosen("ollama/qwen3"), chosen("ollama/other")) == (
        "json-tools",
        "rules-first",
        "",
    )
    assert (chosen(MODEL, "native"), chosen("ollama/other", "native")) == ("cut", "")


def test_a_store_that_is_not_there_is_not_made_and_means_no_choice(tmp_path: Path) -> None:
    assert ChosenWordings(tmp_path / "state" / "validation.sqlite3")(MODEL) == ""
    assert list(tmp_path.iterdir()) == []


def test_a_wording_that_this_version_has_not_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    with Store.open(path) as store:
        store.choose(a_choice())
        of_later = WordingChoice("ollama/x", "sung", Measured(1, 1, 1), {"sung": Measured(1, 1, 1)}, "")
        store.choose(of_later)
        store.choose(replace(a_choice(model="ollama/y"), rendering="sung"))
    assert list(read_choices(path)) == [MODEL]


def test_a_store_of_version_1_keeps_its_trials_and_takes_choices(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1.read_text())
    assert read_choices(path) == {}, "read as it is"
    with Store.open(path) as store:
        earlier = [(trial.model_id, trial.success) for trial in store.trials()]
        store.choose(a_choice())
    assert earlier == [("offline/keyword", True), ("prompt:ollama/gemma3", False)]
    with Store.open(path) as store:
        assert (len(store.trials()), store.notices) == (2, ())
    assert read_choices(path) == {MODEL: a_choice()}


def test_a_store_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    path.write_bytes(b"nonsense" * 500)
    with pytest.raises(StoreError, match=r"validation\.sqlite3 cannot be read"):
        read_choices(path)
    assert path.read_bytes() == b"nonsense" * 500


READ = """
import os, sys
from pathlib import Path
from toolspan_bridge import read_choices
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
folder = Path(sys.argv[1])
try:
    (folder / "new").touch()
    sys.exit("the folder takes files")
except OSError:
    print(read_choices(folder / "validation.sqlite3")["ollama/gemma3"].wording)
"""


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder that takes no files, with a store; who is not its owner can read it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with Store.open(folder / "validation.sqlite3") as store:
            store.choose(a_choice())
        (folder / "validation.sqlite3").chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such permissions")
def test_a_store_in_a_folder_that_takes_no_files_is_read_all_the_same(closed: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", READ, str(closed)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.returncode) == ("json-tools\n", 0), ran.stderr
