"""The server ``everything``, which others wrote: it asks the person and the model, reports progress, and is
cancelled."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from typing_extensions import override

from tests.support.foreign_servers import foreign_servers
from tests.support.waiting import BOUND_S
from toolspan_bridge import ClientFeatures, Elicitation, Elicited, ModelSampler, Roots, Scripted, Toolbox
from toolspan_bridge.approvals import Unattended
from toolspan_bridge.messages import ToolOutcome
from toolspan_bridge.toolbox.reports import CallProgress
from toolspan_server.engines.upstreams import ServerSpec

pytestmark = [
    pytest.mark.long,
    pytest.mark.node,
    pytest.mark.anyio,
    pytest.mark.xdist_group("foreign"),
    pytest.mark.requirement("I12.7.4"),
]


class Person:
    """Fills in every form with its defaults. ``asked`` are the questions."""

    def __init__(self) -> None:
        self.asked: list[Elicitation] = []

    async def elicit(self, question: Elicitation) -> Elicited:
        self.asked.append(question)
        given = {field.name: field.default for field in question.fields if field.default is not None}
        return Elicited("accept", {"name": "Ann", **given})


@asynccontextmanager
async def everything(folder: Path, person: Person, allowed: str) -> AsyncIterator[Toolbox]:
    entry = foreign_servers(folder)["everything"]
    sampler = ModelSampler(Scripted([{"text": "A sampled answer."}]), "m", Unattended(allowed=[allowed]))
    client = ClientFeatures(elicitor=person, sampler=sampler, roots=Roots())
    spec = ServerSpec("everything", command=(entry["command"], *entry["args"]))
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([spec], client=client, connect_timeout=BOUND_S) as toolbox:
            assert toolbox.failures == ()
            yield toolbox


async def called(toolbox: Toolbox, name: str, reports: list[Any], **arguments: Any) -> ToolOutcome:
    (spec,) = (tool for tool in toolbox.tools if tool.name == name)
    return await toolbox.call(spec, arguments, "1", report=reports.append)


async def test_it_asks_the_person_and_the_model_and_tells_its_progress(tmp_path: Path) -> None:
    person, reports = Person(), list[Any]()
    async with everything(tmp_path, person, "sampling:everything") as toolbox:
        form = await called(toolbox, "trigger-elicitation-request", reports)
        assert "Ann" in json.dumps(form.result) and form.result["success"]
        assert {field.kind for field in person.asked[0].fields} >= {"text", "boolean", "choice", "choices"}
        sample = await called(toolbox, "trigger-sampling-request", reports, prompt="Hi", maxTokens=50)
        assert "A sampled answer." in json.dumps(sample.result)
        reports.clear()
        work = await called(toolbox, "trigger-long-running-operation", reports, duration=1, steps=4)
        assert work.result["success"]
        steps = [report.progress for report in reports if isinstance(report, CallProgress)]
        assert steps == [1, 2, 3, 4]


async def test_a_sample_that_nobody_allowed_is_not_made(tmp_path: Path) -> None:
    async with everything(tmp_path, Person(), "none") as toolbox:
        sample = await called(toolbox, "trigger-sampling-request", [], prompt="Hi", maxTokens=50)
        assert "A sampled answer." not in json.dumps(sample.result)


async def test_a_call_is_cancelled_while_it_works_and_the_next_one_is_answered(tmp_path: Path) -> None:
    async with everything(tmp_path, Person(), "none") as toolbox:
        with anyio.CancelScope() as scope:
            await called(toolbox, "trigger-long-running-operation", Cancels(scope), duration=600, steps=6_000)
        assert scope.cancelled_caught
        echo = await called(toolbox, "echo", [], message="still here")
        assert "still here" in json.dumps(echo.result)


class Cancels(list[Any]):
    """Cancels ``scope`` with the first report."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        super().__init__()
        self._scope = scope

    @override
    def append(self, report: Any) -> None:
        self._scope.cancel()
