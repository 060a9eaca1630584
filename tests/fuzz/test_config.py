"""A fuzzer of the config loader: the files of ``configs``, changed at random, as YAML and as JSON.

Whatever the text, it ends in a ``Config`` or a ``ConfigError`` of bounded length, in bounded time.
``TOOLSPAN_FUZZ_SECONDS`` makes it go on for so long.
"""

from __future__ import annotations

import json
import os
import random
import time
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_server import Config, ConfigError, load_config

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.5.2")]

SECONDS = float(os.environ.get("TOOLSPAN_FUZZ_SECONDS", "0"))
UNITS = 1_000
LONGEST = 1_000_000
CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
PIECES = (
    *("{", "}", "[", "]", ":", ",", "- ", "\n", "\n  ", '"', "'", "#", "|", ">", "&a ", "*a", "!!int "),
    *("null", "true", "-1", "1e999", ".nan", "0x", "9" * 400, "${A}", "${A:-b}", "$${", "${", "{{ a }}"),
    *("\\ud800", "\\u0000", "\u202e", "\ufeff", "\t", "\x85", "\x7f", "x" * 2_000, "[" * 80, '{"a":' * 80),
    *("$ref: '#'", "pattern: '(a+)+$'", "type: object", "../..", "tools:", "registry:", "<<: *a", "---\n"),
)


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Each config as it is, and as JSON: the ending, and the text."""
    written = [path.read_text() for path in CONFIGS]
    return (
        *((".yaml", text) for text in written),
        *((".json", json.dumps(yaml.safe_load(text), indent=1, default=str)) for text in written),
    )


def changed(text: str, chance: random.Random) -> str:
    """``text`` with one change: a piece taken out, put in twice, put elsewhere, or a strange one put in."""
    at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    end = min(end, at + chance.choice((1, 3, 20, 400)))
    piece = text[at:end]
    match chance.randrange(6):
        case 0:
            return text[:at] + text[end:]
        case 1:
            return text[:end] + piece * chance.choice((1, 2, 50)) + text[end:]
        case 2:
            rest = text[:at] + text[end:]
            place = chance.randrange(len(rest) + 1)
            return rest[:place] + piece + rest[place:]
        case 3:
            character = chr(chance.choice((chance.randrange(128), chance.randrange(0x3000))))
            return text[:at] + character + text[at + 1 :]
        case _:
            return text[:at] + chance.choice(PIECES) + text[chance.choice((at, end)) :]


def loaded(path: Path, text: str, *, skip_invalid: bool) -> None:
    """Load ``text``; raises ``AssertionError`` when it ends in anything else than it may."""
    path.write_text(text, "utf-8", "surrogatepass")
    with at_most(units=UNITS):
        try:
            config = load_config(path, environ={"A": "x"}, skip_invalid=skip_invalid, import_handlers=False)
            assert isinstance(config, Config)
        except ConfigError as error:
            assert error.problems
            assert len(str(error)) < LONGEST


@settings(
    max_examples=150 if SECONDS else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    print_blob=True,
)
@given(which=st.integers(0, 10_000), seed=st.integers(0, 2**32), times=st.integers(1, 6), skip=st.booleans())
def test_a_changed_config_is_loaded_or_told_what_is_wrong(
    tmp_path: Path, which: int, seed: int, times: int, skip: bool
) -> None:
    ending, text = texts()[which % len(texts())]
    chance = random.Random(seed)
    for _ in range(times):
        text = changed(text, chance)
    loaded(tmp_path / f"toolspan{ending}", text, skip_invalid=skip)


def test_configs_changed_more_and_for_longer(tmp_path: Path) -> None:
    end = time.monotonic() + (SECONDS or 1)
    seed = int.from_bytes(os.urandom(6))
    while time.monotonic() < end:
        seed += 1
        chance = random.Random(seed)
        ending, text = chance.choice(texts())
        for _ in range(chance.randrange(1, 30)):
            text = changed(text, chance)
        try:
            loaded(tmp_path / f"toolspan{ending}", text, skip_invalid=chance.random() < 0.5)
        except Exception as error:
            error.add_note(f"seed {seed}: {text[:20_000]!r}")
            raise
