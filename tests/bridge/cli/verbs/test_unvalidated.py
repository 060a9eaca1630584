"""``on_unvalidated``: ask and chat warn of, or refuse, a model that is not validated with its tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires

pytestmark = [pytest.mark.requirement("I14.4.1"), pytest.mark.long]

CONFIG = """\
tools:
  registry:
    - name: calculate
      description: {description}
      parameters: {{type: object, properties: {{expression: {{type: string}}}}}}
      implementation: {{type: builtin, handler: math_eval}}
validation: {{minimum: 2, threshold: 0.2, on_unvalidated: {rule}}}
"""
SUITE = """\
name: sums
scenarios:
  - {name: thanks, query: Thank you!, expect: {no_calls: true}}
"""
MODEL = "openai-chat/gpt-4o"


def place(folder: Path, rule: str, description: str = "Evaluate an expression") -> None:
    (folder / "toolspan.yaml").write_text(CONFIG.format(rule=rule, description=description))
    (folder / "suite.yaml").write_text(SUITE)


def ran(folder: Path, fake: FakeProvider, *words: str, stdin: str = "") -> Ran:
    held = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{fake.url}/v1"}
    return toolspan(*words, "-m", MODEL, cwd=folder, stdin=stdin, **held)


def saying(count: int) -> FakeProvider:
    return FakeProvider(anything, [Sent(wires("openai").answer("Welcome!")) for _ in range(count)])


def test_a_warning_until_it_is_validated_and_again_when_the_tools_change(tmp_path: Path) -> None:
    place(tmp_path, "warn")
    with saying(9) as fake:
        first = ran(tmp_path, fake, "ask", "Thank you!")
        assert first.code == 0 and f"{MODEL} was never tested with tools" in first.err
        assert ran(tmp_path, fake, "validate", "--suite", "suite.yaml", "--trials", "4").code == 0
        assert "tested" not in ran(tmp_path, fake, "ask", "Thank you!").err
        place(tmp_path, "warn", description="Something else")
        changed = ran(tmp_path, fake, "ask", "Thank you!")
    assert changed.code == 0
    assert "is not validated with these tools: stale" in changed.err
    assert "changed: the tools' definitions" in changed.err


@pytest.mark.parametrize("verb", ["ask", "chat"])
def test_refuse_ends_before_the_model_is_asked(tmp_path: Path, verb: str) -> None:
    place(tmp_path, "refuse")
    with saying(6) as fake:
        words = (verb, "Thank you!") if verb == "ask" else (verb,)
        refused = ran(tmp_path, fake, *words, stdin="Thank you!\n")
        assert fake.received == [] and "Welcome" not in refused.out
        assert "the config refuses such models" in refused.err
        assert refused.code == 6
        assert ran(tmp_path, fake, "validate", "--suite", "suite.yaml", "--trials", "4").code == 0
        allowed = ran(tmp_path, fake, *words, stdin="Thank you!\n")
    assert allowed.code == 0 and "Welcome!" in allowed.out


def test_ignore_says_nothing_and_without_tools_there_is_nothing_to_say(tmp_path: Path) -> None:
    place(tmp_path, "ignore")
    named = ("--config", "toolspan.yaml")
    with saying(3) as fake:
        assert "tested with tools" not in ran(tmp_path, fake, "ask", "Thank you!", *named).err
        found = ran(tmp_path, fake, "ask", "Thank you!")
        assert "set validation.on_unvalidated" in found.err, "a folder silences no warning unasked"
        assert f"{MODEL} was never tested with tools" in found.err
        (tmp_path / "toolspan.yaml").write_text("validation: {on_unvalidated: refuse}\n")
        assert ran(tmp_path, fake, "ask", "Thank you!").code == 0


def test_refuse_holds_for_the_offline_picker_too_but_no_warning_does(tmp_path: Path) -> None:
    place(tmp_path, "warn")
    assert "tested with tools" not in toolspan("ask", "2+2?", "-m", "offline/keyword", cwd=tmp_path).err
    place(tmp_path, "refuse")
    refused = toolspan("ask", "2+2?", "-m", "offline/keyword", "--json", cwd=tmp_path)
    assert (refused.code, refused.error["code"]) == (6, "unvalidated")
