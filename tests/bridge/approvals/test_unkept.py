"""An answer that cannot be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolspan_bridge.approvals import (
    Approval,
    ApprovalRequest,
    Departure,
    PersonAnswer,
    PolicyApprover,
    Remembered,
)
from toolspan_bridge.approvals.remembered import Origins
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.6.5")]


ORIGINS = Origins("", lambda server: server, lambda _server, _tool: "")


class Always:
    """Somebody who allows a tool for good."""

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer:
        return PersonAnswer(Approval(allowed=True, decider="person", scope="tool"))


async def test_a_yes_that_cannot_be_remembered_counts_for_its_call_and_the_person_is_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "approvals.lock").mkdir()
    told: list[str] = []
    approver = PolicyApprover(
        "always",
        remembered=Remembered(tmp_path / "approvals.json", ORIGINS, "local", "c"),
        person=Always(),
        report=told.append,
    )
    approval = await approver.decide(ApprovalRequest("1", "s", ListedTool("look", "", {}), {}))
    assert approval.allowed
    assert len(told) == 1
    assert told[0].startswith("your answer counts for this call only, as it cannot be kept: ")
    assert "cannot be written" in told[0] and "correct or remove" not in told[0]
