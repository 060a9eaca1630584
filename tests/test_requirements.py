"""The manifest and the tests name each other, both ways."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parent
TEXT = (TESTS / "requirements.yaml").read_text("utf-8")
MANIFEST: dict[str, str] = yaml.safe_load(TEXT)


@cache
def _named_by_tests() -> dict[str, set[str]]:
    named: dict[str, set[str]] = defaultdict(set)
    for path in TESTS.rglob("test_*.py"):
        if "mark.requirement" not in (text := path.read_text("utf-8")):
            continue
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "requirement"
            ):
                for argument in node.args:
                    named[ast.literal_eval(argument)].add(str(path.relative_to(TESTS)))
    return named


@pytest.mark.long
@pytest.mark.requirement("I2.1.3")
def test_every_requirement_is_proven_by_a_test() -> None:
    assert sorted(MANIFEST.keys() - _named_by_tests().keys()) == []


@pytest.mark.requirement("I2.1.3")
def test_every_requirement_that_a_test_names_is_in_the_manifest() -> None:
    unknown = {id_: files for id_, files in _named_by_tests().items() if id_ not in MANIFEST}
    assert unknown == {}


def _twice(text: str) -> list[str]:
    """The keys of the mapping ``text`` that are there more than once."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
    counted = Counter(key.value for key, _ in node.value)
    return [key for key, count in counted.items() if count > 1]


@pytest.mark.requirement("I2.1.3")
def test_no_requirement_is_there_twice() -> None:
    assert _twice("a: one\nb: two\na: three\n") == ["a"]
    assert _twice(TEXT) == []


@pytest.mark.requirement("I2.1.3")
def test_every_requirement_says_what_it_asks() -> None:
    assert all(len(text.split()) >= 4 for text in MANIFEST.values())
