"""Whom an answer that is remembered holds for: who gave it, for that tool as it was, under that config."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.background import begun, conversations, until, written
from toolspan_bridge.approvals import Approval, ApprovalRequest, CallFiles, PersonAnswer, Remembered
from toolspan_bridge.approvals.remembered import Origins
from toolspan_bridge.web.conversations.live import Posted
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.2.3")]

TOOL = ListedTool("wipe", "Wipes.", {"type": "object"})
REQUEST = ApprovalRequest("1", "s", TOOL, {"city": "Rome"})
ORIGINS = Origins("toolspan.yaml", lambda server: server, lambda _server, _tool: "to staging")
ALWAYS = PersonAnswer(Approval(allowed=True, decider="person", scope="tool"))
HERE = PersonAnswer(Approval(allowed=True, decider="person", scope="conversation"))


def remembered(path: Path, **other: Any) -> Remembered:
    origins = other.get("origins", ORIGINS)
    return Remembered(path, origins, other.get("principal", "local"), other.get("conversation", "c"))


def knows(path: Path, request: ApprovalRequest = REQUEST, **other: Any) -> bool:
    return remembered(path, **other).answer(request, CallFiles(path.parent)).approval is not None


@pytest.mark.parametrize("answer", [ALWAYS, HERE], ids=["always", "conversation"])
def test_an_answer_holds_for_nobody_but_who_gave_it(answer: PersonAnswer, tmp_path: Path) -> None:
    path = tmp_path / "approvals.json"
    for principal in ("token ann", "key k1", "local"):
        remembered(path, principal=principal).keep(REQUEST, answer)
        others = {"token bob", "key k2", "gateway local", "token ann ", "", "LOCAL", f"{principal} x"}
        assert knows(path, principal=principal)
        assert [other for other in others if knows(path, principal=other)] == []


CHANGES: dict[str, dict[str, Any]] = {
    "another config": {"origins": replace(ORIGINS, config="other.yaml")},
    "another server": {"origins": replace(ORIGINS, address=lambda _server: "other")},
    "what the config says of the tool": {
        "origins": replace(ORIGINS, configured=lambda _s, _t: "to production")
    },
    "another tool": {"request": replace(REQUEST, tool=replace(TOOL, name="wipe_all"))},
    "its description": {"request": replace(REQUEST, tool=replace(TOOL, description="Wipes all."))},
    "its schema": {"request": replace(REQUEST, tool=replace(TOOL, schema={"type": "object", "title": "x"}))},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_answer_ends_with_a_change_of_what_it_was_about(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "approvals.json"
    remembered(path).keep(REQUEST, ALWAYS)
    assert knows(path)
    assert not knows(path, **change)


def test_answers_of_two_principals_stand_beside_each_other(tmp_path: Path) -> None:
    path = tmp_path / "approvals.json"
    for principal in ("token ann", "token bob"):
        remembered(path, principal=principal).keep(REQUEST, ALWAYS)
    assert knows(path, principal="token ann") and knows(path, principal="token bob")


def test_an_answer_of_before_it_was_known_whose_it_was_holds_for_nobody_and_goes(tmp_path: Path) -> None:
    path = tmp_path / "approvals.json"
    remembered(path).keep(REQUEST, ALWAYS)
    whole = json.loads(path.read_text())
    for name in ("principal", "config", "configured"):
        del whole["answers"][0][name]
    path.write_text(json.dumps(whole))
    assert not knows(path) and not knows(path, principal="")
    remembered(path).keep(replace(REQUEST, tool=replace(TOOL, name="other")), ALWAYS)
    assert [each["tool"] for each in json.loads(path.read_text())["answers"]] == ["other"]


@pytest.mark.long
@pytest.mark.usefixtures("state")
async def test_in_conversations_one_principals_always_asks_every_other(tmp_path: Path) -> None:
    config = written(tmp_path)
    async with conversations(config) as engine:
        ran: dict[str, bool] = {}
        for principal in ("token ann", "token bob", "local", "token ann"):
            own = engine.of(principal)
            talk = await begun(own, config)
            run = await own.post(talk, Posted("remove it"))
            del run
            events = await until(own, talk, "approval_requested" if principal not in ran else "run_ended")
            ran[principal] = any(event.name == "tool_result" for event in events)
            if not ran[principal]:
                await own.answer(talk, events[-1].data["request"], {"decision": "allow_always"})
                await until(own, talk, "run_ended", events[-1].id)
    assert ran == {"token ann": True, "token bob": False, "local": False}
