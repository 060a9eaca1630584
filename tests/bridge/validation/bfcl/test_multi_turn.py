"""The leaderboard's conversations: performed and judged by the programs that the user installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.bfcl_programs import conversation, install, write_conversations
from toolspan_bridge import Asker, Store, Toolbox, validate
from toolspan_bridge.errors import UsageError
from toolspan_bridge.validation.answers import RecordedAnswer, RecordedCall, RecordedTurn
from toolspan_bridge.validation.bfcl import ScorableBfcl, load_bfcl, suite_of
from toolspan_bridge.validation.bfcl.multi_turn import PYTHON_VARIABLE
from toolspan_bridge.validation.queue.parcel import PackedSuite
from toolspan_bridge.validation.runs.plan import hash_of_suite
from toolspan_server import Config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I14.1.67"), pytest.mark.long]

TWO = conversation("multi_turn_base_0", ["Add two.", "Add three."], start=1)
ADDS = [["add(amount=2)"], ["add(3)"]]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    return install(tmp_path_factory.mktemp("programs"))


@pytest.fixture(autouse=True)
def programs(python: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(PYTHON_VARIABLE, python)
    monkeypatch.setenv("A_KEY", "secret")
    yield


def _turn(*calls: tuple[str, dict[str, Any] | None]) -> RecordedTurn:
    return RecordedTurn(tuple(RecordedCall(name, arguments) for name, arguments in calls), "")


def _fault(file: Path, *turns: RecordedTurn, name: str = "multi_turn_base_0") -> str:
    return ScorableBfcl(load_bfcl(file)).fault_of(RecordedAnswer(name, (), "", 1, turns))


async def _asked(folder: Path, file: Path, *turns: dict[str, Any]) -> tuple[bool, str, Any]:
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump({"turns": list(turns)}))
    with Store.open(folder / "validation.sqlite3") as store:
        async with Asker(Config(), Toolbox([])) as asker:
            suite = suite_of(load_bfcl(file))
            await validate([f"scripted/{script}"], suite, asker.ask, store)
        (trial,) = store.trials()
    return trial.success, trial.error, trial.details


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments}]}


def test_recorded_turns_are_judged_by_the_state_after_each(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [TWO], [ADDS])
    assert _fault(file, _turn(("add", {"amount": 2})), _turn(("add", {"amount": 3}))) == ""
    split = _turn(("add", {"amount": 1}), ("add", {"amount": 1}))
    assert _fault(file, split, _turn(("add", {"amount": 3}))) == ""
    wrong = _fault(file, _turn(("add", {"amount": 2})), _turn(("add", {"amount": 4})))
    told = "the calls left another state than the accepted ones (value is 7, expected 6)"
    assert wrong == f"turn 2 of 2: {told}"
    assert "no function was called" in _fault(file, _turn(("add", {"amount": 2})), _turn())
    assert _fault(file, _turn(("add", {"amount": 2}))) == "the conversation ended in turn 1 of 2"
    assert "needs 'turns'" in _fault(file)


def test_no_text_of_an_answer_is_evaluated(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [TWO], [ADDS])
    witness = tmp_path / "witness"
    evil = {f"amount=open({str(witness)!r}, 'w') and 2, b": 1}
    for call in (("add", evil), ("open", {"file": str(witness), "mode": "w"}), ("_load_scenario", {})):
        assert "another state" in _fault(file, _turn(call), _turn(("add", {"amount": 3})))
    assert not witness.exists()


def test_accepted_calls_with_other_than_plain_values_are_refused(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [TWO], [[["add(amount=open('x','w'))"], ["read()"]]])
    with pytest.raises(UsageError, match=r"BFCL_v4_multi_turn_base\.json:1: the accepted .* plain values"):
        load_bfcl(file)


async def test_a_model_is_asked_all_turns_and_sees_what_the_programs_give(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [TWO], [ADDS])
    turns = (_call("add", amount=2), {"text": "Done."}, _call("add", amount=3), _call("read"), {"text": "6"})
    success, error, details = await _asked(tmp_path, file, *turns)
    assert (success, error) == (True, "")
    results = [use["result"]["result"] for turn in details["turns"] for use in turn["tool_calls"]]
    # the programs have none of our environment's variables
    assert results == [{"value": 3}, {"value": 6}, {"value": 6, "secrets": []}]


async def test_calls_of_one_reply_are_made_in_their_order_with_whatever_arguments(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [conversation("multi_turn_base_0", ["Go."])], [[["add(amount=2)"]]])
    reply = {
        "calls": [*_call("add", amount=2)["calls"], *_call("add", wrong=1)["calls"], *_call("read")["calls"]]
    }
    success, _, details = await _asked(tmp_path, file, reply, {"text": "Done."})
    results = [use["result"]["result"] for use in details["tool_calls"]]
    assert success and results[0] == {"value": 2} and results[2]["value"] == 2
    assert results[1].startswith("Error during execution: ")


async def test_a_function_that_is_missing_at_first_is_offered_from_its_turn_on(tmp_path: Path) -> None:
    line = conversation("multi_turn_miss_func_0", ["Add two.", None], missed={"1": ["add"]})
    file = write_conversations(tmp_path, [line], [[[], ["add(amount=2)"]]])
    (scenario,) = suite_of(load_bfcl(file)).scenarios
    assert scenario.asked[1].query == "There are further functions now."
    turns = (_call("add", amount=2), {"text": "There is none."}, _call("add", amount=2), {"text": "Done."})
    success, error, details = await _asked(tmp_path, file, *turns)
    first = details["turns"][0]["tool_calls"][0]["result"]
    assert first["error_code"] in ("tool_not_allowed", "tool_not_found")
    # as in BFCL the early call counts, so that the state is another
    assert not success and "value is 4, expected 2" in error


async def test_more_replies_with_calls_than_the_leaderboard_allows_are_a_failure(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [TWO], [ADDS])
    success, error, _ = await _asked(tmp_path, file, *(_call("add", amount=each) for each in range(4)))
    assert (success, error) == (False, "turn 1 of 2: more than 3 replies had calls")


async def test_programs_that_end_are_a_failed_call(tmp_path: Path) -> None:
    file = write_conversations(tmp_path, [conversation("multi_turn_base_0", ["Go."])], [[["read()"]]])
    success, error, details = await _asked(tmp_path, file, _call("crash"), {"text": "Done."})
    assert "the process ended" in details["tool_calls"][0]["result"]["error"]
    assert (success, error) == (False, "BFCL's checker ends with an error: the process ended")


def test_conversations_on_a_queue_are_the_same_suite(tmp_path: Path) -> None:
    suite = suite_of(load_bfcl(write_conversations(tmp_path, [TWO], [ADDS])))
    packed = PackedSuite.model_validate_json(PackedSuite.of(suite).model_dump_json())
    assert hash_of_suite(packed.suite) == hash_of_suite(suite)


@pytest.mark.parametrize("python_of", ["", "/no/such/python"])
def test_without_the_programs_it_is_said_how_to_install_them(
    tmp_path: Path, python_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_conversations(tmp_path, [TWO], [ADDS])
    monkeypatch.setenv(PYTHON_VARIABLE, python_of)
    with pytest.raises(UsageError, match="pip install --no-deps bfcl_eval"):
        load_bfcl(file)
