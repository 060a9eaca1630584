"""The parts that only save time: what benchmarks/shortcuts.py switches off is there, and is not needed."""

from __future__ import annotations

import importlib
import re

import pytest

from benchmarks.measures.stdio_calls import one_by_one
from benchmarks.shortcuts import LOADING, OVER_HTTP, OVER_STDIO, serving
from benchmarks.stdio import Stdio

pytestmark = pytest.mark.requirement("I10.4.5")
_FROM = re.compile(r"from (\S+) import (\w+)")
_REPLACED = re.compile(r"^(\w+)\.(\w+) = ", re.MULTILINE)
SWITCHES = {**OVER_HTTP, **OVER_STDIO}


@pytest.mark.parametrize("name", sorted(SWITCHES))
def test_a_server_without_it_answers_the_same(name: str) -> None:
    with Stdio(serving(SWITCHES[name])) as client:
        one_by_one(client, 3)


def test_what_is_switched_off_is_there() -> None:
    assert [each for each in {**SWITCHES, **LOADING}.values() if each] != []
    for off in filter(None, SWITCHES.values()):
        places = {name: module for module, name in _FROM.findall(off)}
        for owner, attribute in _REPLACED.findall(off):
            module = importlib.import_module(places[owner])
            held = getattr(module, owner, None) or importlib.import_module(f"{places[owner]}.{owner}")
            assert hasattr(held, attribute), (owner, attribute)
    assert hasattr(importlib.import_module("toolspan_server.config.loading.load"), "paused")
