"""The leaderboard's files are read as they are, and what they hold that cannot be scored is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.bfcl_files import function, write_category
from toolspan_bridge.errors import UsageError
from toolspan_bridge.validation.bfcl import load_bfcl

pytestmark = pytest.mark.requirement("I14.1.2")

F = function("f", ["x"], x="integer")


def test_a_folder_is_all_its_files_by_id(tmp_path: Path) -> None:
    write_category(tmp_path, {"simple_python_3": ([F], [{"f": {"x": [1]}}])})
    write_category(tmp_path, {"live_irrelevance_1-0-1": ([F], None)})
    suite = load_bfcl(tmp_path)
    assert list(suite.cases) == ["live_irrelevance_1-0-1", "simple_python_3"]
    assert suite.cases["live_irrelevance_1-0-1"].category == "live_irrelevance"
    assert suite.cases["simple_python_3"].accepted == [{"f": {"x": [1]}}]


def test_one_file_is_read_with_the_answers_beside_it(tmp_path: Path) -> None:
    file = write_category(tmp_path, {"parallel_0": ([F], [{"f": {"x": [1]}}])})
    write_category(tmp_path, {"irrelevance_0": ([F], None)})
    assert list(load_bfcl(file).cases) == ["parallel_0"]


def test_a_category_that_needs_the_leaderboards_programs_is_left_out_with_the_reason(tmp_path: Path) -> None:
    write_category(tmp_path, {"irrelevance_0": ([F], None)})
    multi = write_category(tmp_path, {"multi_turn_base_0": ([], None), "multi_turn_base_1": ([], None)})
    (left,) = load_bfcl(tmp_path).left_out
    assert (left.category, left.ids) == ("multi_turn_base", {"multi_turn_base_0", "multi_turn_base_1"})
    assert "the leaderboard's own programs" in left.why
    with pytest.raises(UsageError, match=r"multi_turn_base\.json is not scored: .* own programs"):
        load_bfcl(multi)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", ":2: no JSON"),
        ("[]", ":2: no JSON object"),
        ('{"question": []}', ":2: 'id' must be a text"),
        ('{"id": "quiz_1"}', ":2: quiz_1 is not scored: the category 'quiz' is not known"),
        ('{"id": "simple_python_1", "question": []}', ":2: 'question' must be a list of one turn"),
        ('{"id": "simple_python_1", "question": [[]], "function": [{}]}', ":2: 'function' must be a list"),
        (
            '{"id": "simple_python_1", "question": [[]], "function": [{"name": "f"}]}',
            ":2: simple_python_1 has no accepted answer in possible_answer/",
        ),
        ('{"id": "irrelevance_0", "question": [[]], "function": []}', ":2: the id 'irrelevance_0' is there"),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = write_category(tmp_path, {"irrelevance_0": ([F], None)})
    file.write_text(file.read_text() + "\n" + line)
    with pytest.raises(UsageError) as caught:
        load_bfcl(file)
    assert f"{file}{message}" in caught.value.message


def test_an_accepted_answer_of_another_shape_is_named(tmp_path: Path) -> None:
    file = write_category(tmp_path, {"simple_python_0": ([F], [{"f": {"x": 1}}])})
    with pytest.raises(UsageError, match="the accepted answer of simple_python_0 must be a list of"):
        load_bfcl(file)


def test_a_place_without_such_files_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no file BFCL_v4_\*\.json"):
        load_bfcl(tmp_path)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_bfcl(tmp_path / "absent.json")
