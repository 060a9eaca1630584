"""The leaderboard's cases through the gateway get the verdicts that they get without it, over every wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.bfcl_files import function, write_category
from tests.support.fake_providers import Sent
from tests.support.skilled_models import Asked, SkilledModels
from tests.support.web_app import web_app
from tests.support.wire_peers import wires

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.3.126")]

_ANSWERS: dict[str, Mapping[str, Any]] = {
    "right": {"calls": [("c", "right", {"x": 1})]},
    "wrong_value": {"calls": [("c", "wrong_value", {"x": 2})]},
    "missing": {"calls": [("c", "missing", {})]},
    "unknown": {"calls": [("c", "another", {"x": 1})]},
    "malformed": {"calls": [("c", "malformed", "{oops")]},
    "no_object": {"calls": [("c", "no_object", "[1]")]},
    "in_words": {"text": "I would call in_words."},
    "as_text": {"text": '{"name": "as_text", "arguments": {"x": 1}}'},
    "with_words": {"text": "Well.", "calls": [("c", "with_words", {"x": 1})]},
    "twice": {"calls": [("c1", "twice", {"x": 1}), ("c2", "twice", {"x": 1})]},
    "many": {"calls": [(f"c{number}", "many", {"x": 1}) for number in range(20)]},
    "refused": {"text": "No.", "stop": "refusal"},
    "cut": {"text": "Let me", "stop": "length"},
    "cut_call": {"calls": [("c", "cut_call", {"x": 1})], "stop": "length"},
    "dotted_name": {"calls": [("c", "dotted_name", {"x": 1})]},
}
"""What the model answers where a function of this name is offered."""
_CATEGORIES = ("simple_python", "parallel", "irrelevance")
_WAYS = ("", "gw/", "responses/", "claude/")


def _skill(asked: Asked) -> Sent:
    """The right, wrong or broken answer that the offered function stands for; later turns are in words."""
    on_wire = asked.tools[0]
    name = max((each for each in _ANSWERS if each in on_wire), key=len)
    given: dict[str, Any] = {"text": "Done."} if asked.answered else dict(_ANSWERS[name])
    if "calls" in given:
        made = given["calls"]
        given["calls"] = [(call, on_wire if called == name else called, raw) for call, called, raw in made]
    openai = wires("openai")
    if asked.body.get("stream"):
        return Sent(frames=openai.frames(**given), headers={"content-type": "text/event-stream"})
    return Sent(openai.answer(**given))


def _cases(folder: Path) -> Path:
    """A case of each category for each answer; of ``parallel`` two calls are wanted."""
    for category in _CATEGORIES:
        lines: dict[str, tuple[Any, Any]] = {}
        for number, name in enumerate(_ANSWERS):
            own = name.replace("dotted_", "dotted.")
            wanted = [{own: {"x": [1]}}] * (2 if category == "parallel" else 1)
            truth = None if category == "irrelevance" else wanted
            lines[f"{category}_{number}"] = ([function(own, ["x"], x="integer")], truth)
        write_category(folder, lines)
    return folder


def _verdicts(models: SkilledModels, folder: Path, cases: Path, model: str) -> dict[str, Any]:
    """Of each case how often it was asked, right, and an error; and the reasons."""
    command = ["validate", "-c", "clients.json", "--suite", f"bfcl:{cases}", "-m", model]
    ran = models.run(folder, *command, "--threshold", "0", "--json")
    assert ran.code == 0, ran.err
    (found,) = json.loads(ran.out)["models"]
    counts = ("test_count", "success_count", "error_count")
    return {
        each["scenario"]: (*(each[count] for count in counts), tuple(each["errors"]))
        for each in found["scenarios"]
    }


def test_each_case_gets_the_same_verdict_through_the_gateway(tmp_path: Path) -> None:
    cases, clients = _cases(tmp_path / "cases"), tmp_path / "clients"
    clients.mkdir()
    with SkilledModels(_skill) as models:
        held = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": f"{models.url}/v1"}
        with web_app(tmp_path, **held) as app:
            v1 = f"{app.url}/v1"
            gateways = {
                "gw": {"base_url": v1},
                "responses": {"base_url": v1, "format": "openai-responses"},
                "claude": {"base_url": app.url, "format": "anthropic"},
            }
            (clients / "clients.json").write_text(json.dumps({"version": 1, "providers": gateways}))
            found = {
                way: _verdicts(models, clients, cases, f"{way}openai-chat/gpt-4o{':notools' if way else ''}")
                for way in _WAYS
            }
    direct = found[""]
    assert len(direct) == len(_CATEGORIES) * len(_ANSWERS)
    assert 0 < sum(each[1] for each in direct.values()) < len(direct)
    assert found["gw/"] == direct
    assert found["responses/"] == direct
    only_counts = [{name: each[:3] for name, each in found[way].items()} for way in ("claude/", "")]
    assert only_counts[0] == only_counts[1]
