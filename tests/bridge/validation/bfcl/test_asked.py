"""Models are asked the leaderboard's cases: its functions are the tools, the first turn is the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.bfcl_files import function, write_category
from toolspan_bridge import Asker, Store, Toolbox, ToolSpec, validate
from toolspan_bridge.messages import Assistant, User
from toolspan_bridge.validation.bfcl import BfclCase, BfclSuite, load_bfcl, suite_of
from toolspan_bridge.validation.suites import Setting
from toolspan_server import Config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I14.1.6")]

USUAL = Setting(Toolbox([]), 5)
ADD = function("math.add", ["x"], x="integer")


async def _verdicts(folder: Path, found: BfclSuite, *turns: dict[str, Any]) -> dict[str, tuple[bool, str]]:
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump({"turns": list(turns)}))
    with Store.open(folder / "validation.sqlite3") as store:
        async with Asker(Config(), Toolbox([])) as asker:
            await validate(
                [f"scripted/{script}"],
                suite_of(found),
                asker.ask,
                store,
                fingerprint_of=asker.fingerprint,
            )
        return {trial.scenario: (trial.success, trial.error) for trial in store.trials()}


async def test_calls_of_the_first_turn_are_scored_and_later_ones_are_not(tmp_path: Path) -> None:
    file = write_category(tmp_path, {"simple_python_0": ([ADD], [{"math.add": {"x": [1]}}])})
    call = {"calls": [{"tool": "math.add", "arguments": {"x": 1}}]}
    assert await _verdicts(tmp_path, load_bfcl(file), call, {"text": "Done."}) == {
        "simple_python_0": (True, "")
    }


async def test_a_wrong_call_is_a_failed_trial_with_the_checkers_reason(tmp_path: Path) -> None:
    file = write_category(tmp_path, {"simple_python_0": ([ADD], [{"math.add": {"x": [1]}}])})
    call = {"calls": [{"tool": "math.add", "arguments": {"x": 2}}]}
    assert await _verdicts(tmp_path, load_bfcl(file), call, {"text": "Done."}) == {
        "simple_python_0": (False, "argument 'x' was 2, expected one of [1]")
    }


async def test_an_answer_in_words_is_right_where_no_function_helps(tmp_path: Path) -> None:
    file = write_category(tmp_path, {"irrelevance_0": ([ADD], None)})
    assert await _verdicts(tmp_path, load_bfcl(file), {"text": "I cannot."}) == {"irrelevance_0": (True, "")}


def _scenario(category: str, *functions: Any, messages: tuple[Any, ...] = ()) -> Any:
    asked = messages or ({"role": "user", "content": "Do it."},)
    case = BfclCase(f"{category}_0", category, asked, list(functions), [{functions[0]["name"]: {}}])
    return suite_of(BfclSuite("s", {case.id: case})).scenarios[0]


def _tool(category: str, function: Any) -> ToolSpec:
    (tool,) = _scenario(category, function).set_in(USUAL).toolbox.tools
    return tool


def test_types_are_those_of_json_schema() -> None:
    nested = {"type": "dict", "properties": {"a": {"type": "float"}}, "required": ["a"]}
    listed = {"type": "tuple", "items": {"type": "any"}}
    (tool,) = (
        _scenario("simple_python", function("f", ["n"], n=nested, t=listed, s="string"))
        .set_in(USUAL)
        .toolbox.tools
    )
    assert tool.schema == {
        "type": "object",
        "properties": {
            "n": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
            "t": {"type": "array", "items": {"type": "string"}},
            "s": {"type": "string"},
        },
        "required": ["n"],
    }
    assert tool.description == "Does f. Note that the provided function is in Python 3 syntax."


def test_java_and_javascript_values_are_asked_for_as_text() -> None:
    listed = {"type": "ArrayList", "items": {"type": "String"}, "description": "Names."}
    java = _tool("simple_java", function("f", [], x=listed))
    assert java.schema["properties"]["x"] == {
        "type": "string",
        "description": "Names. This is Java ArrayList type parameter in string representation. "
        "The list elements are of type String; they are not in string representation.",
    }
    script = _tool("simple_javascript", function("f", [], x="any"))
    assert "any type of JavaScript object" in script.schema["properties"]["x"]["description"]


def test_what_was_said_before_the_question_comes_before_it() -> None:
    messages = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Add."},
    )
    scenario = _scenario("live_simple", ADD, messages=messages)
    setting = scenario.set_in(USUAL)
    assert (scenario.asked[0].query, setting.system) == ("Add.", "Be brief.")
    assert setting.before == (User("Hi."), Assistant("Hello."))
    assert scenario.tags == ("live_simple",)


def test_other_accepted_answers_are_another_suite() -> None:
    one, other = (_scenario("simple_python", function("f", [], x=kind)) for kind in ("integer", "float"))
    assert one.identity != other.identity


async def _marks(folder: Path, *functions: Any) -> dict[str, str]:
    file = write_category(folder, {"simple_python_0": (list(functions), [{functions[0]["name"]: {}}])})
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump({"turns": [{"calls": [{"tool": functions[0]["name"]}]}]}))
    with Store.open(folder / "validation.sqlite3") as store:
        async with Asker(Config(), Toolbox([])) as asker:
            suite = suite_of(load_bfcl(file))
            await validate([f"scripted/{script}"], suite, asker.ask, store, fingerprint_of=asker.fingerprint)
        (trial,) = store.trials()
    assert trial.fingerprint is not None
    return trial.fingerprint.known


@pytest.mark.requirement("I14.1.65")
async def test_the_fingerprint_has_the_hash_of_what_each_case_offers(tmp_path: Path) -> None:
    plain = await _marks(tmp_path / "a", function("f"))
    again = await _marks(tmp_path / "b", function("f"))
    other = await _marks(tmp_path / "c", {**function("f"), "description": "Does something else."})
    assert plain["tools"] == again["tools"] != other["tools"]


@pytest.mark.requirement("I14.1.66")
async def test_no_request_is_made_after_the_turn_that_is_scored(tmp_path: Path) -> None:
    file = write_category(tmp_path, {"simple_python_0": ([ADD], [{"math.add": {"x": [1]}}])})
    call = {"calls": [{"tool": "math.add", "arguments": {"x": 1}}]}
    # a script without a second turn would fail the trial that asks for one
    assert await _verdicts(tmp_path, load_bfcl(file), call) == {"simple_python_0": (True, "")}
