"""Calls that a server makes tasks of: waited for, asked, cancelled, and taken up after a restart."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.asking import Person, heard
from tests.support.served import http_server
from tests.support.waiting import BOUND_S
from toolspan_bridge import ClientFeatures, ClientLimits, Elicited, KeptTasks, ServerSpec, Toolbox
from toolspan_bridge.client.kept_tasks import call_key
from toolspan_bridge.principals import LOCAL_USER, PRINCIPAL_META
from toolspan_bridge.toolbox import own_server
from toolspan_bridge.toolbox.reports import CallElicitation, CallLog, CallNotice
from toolspan_bridge.toolbox.servers import NAMES_PRINCIPALS
from toolspan_server.config import load_config

pytestmark = [pytest.mark.long, pytest.mark.anyio]
FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}}


def tool(name: str, implementation: dict[str, Any], **more: Any) -> dict[str, Any]:
    task = {"poll_interval_ms": 50}
    described = {"name": name, "description": "x", "task": task, "parameters": {"type": "object"}, **more}
    return {**described, "implementation": {"type": "mock", **implementation}}


HALF = {"progress": {"progress": 1, "message": "half"}}
ASK = {"ask": {"sure": {"elicitation": {"message": "Sure?", "requestedSchema": FORM}}}}
TOOLS = [
    tool("slow", {"delay_ms": 300, "response": "at last"}),
    tool("endless", {"delay_ms": 3_000_000, "response": "never"}, timeout_ms=3_600_000),
    tool("asks", {"steps": [ASK], "response": "{{ answers.sure.content.ok }}"}),
    tool(
        "tells",
        {"steps": [{"progress": {"progress": 1, "message": "half"}}, {"delay_ms": 300}], "response": 1},
    ),
    tool("guarded", {"response": "allowed"}, approval=True),
    tool("fails", {"error": {"message": "no", "code": "no"}}),
]


@asynccontextmanager
async def connected(
    folder: Path, client: ClientFeatures | None = None, *, own: bool = True
) -> AsyncGenerator[Toolbox]:
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"version": 1, "name": "mine", "tools": {"registry": TOOLS}}))
    spec = own_server(load_config(path))
    if not own:
        spec = ServerSpec(
            "mine",
            command=tuple(word for word in spec.command if word not in NAMES_PRINCIPALS),
            inherit_env=True,
        )
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([spec], client=client, connect_timeout=BOUND_S) as toolbox:
            assert toolbox.failures == ()
            yield toolbox


@pytest.mark.requirement("I12.2.22")
@pytest.mark.parametrize("own", [True, False])
async def test_a_task_is_waited_for_also_longer_than_a_call_and_answered(own: bool, tmp_path: Path) -> None:
    person = Person([Elicited("accept", {"ok": True})])
    async with connected(tmp_path, ClientFeatures(person), own=own) as toolbox:
        slow = await heard(toolbox, "slow")
        asks = await heard(toolbox, "asks")
        fails = await heard(toolbox, "fails")
    assert slow.value == "at last"
    assert slow.of(CallNotice)[0].text == "slow runs on as a task of the server 'mine'"
    assert (asks.value in ("True", "true", True), len(asks.of(CallElicitation))) == (True, 1)
    assert (fails.outcome.result["success"], fails.value) == (False, "no")


@pytest.mark.requirement("I12.2.22")
async def test_what_a_task_tells_is_shown(tmp_path: Path) -> None:
    async with connected(tmp_path) as toolbox:
        tells = await heard(toolbox, "tells")
    assert CallLog("notice", "half", "task") in tells.of(CallLog)


@pytest.mark.requirement("I12.2.22")
async def test_a_task_whose_call_was_allowed_here_is_not_asked_about_again(tmp_path: Path) -> None:
    async with connected(tmp_path) as toolbox:
        (spec,) = (each for each in toolbox.tools if each.name == "guarded")
        assert (await toolbox.call(spec, {}, "1", approved=True)).result["result"] == "allowed"
        assert (await toolbox.call(spec, {}, "1")).result["success"] is False


@pytest.mark.requirement("I12.2.22")
async def test_a_task_has_a_longest_time_and_is_cancelled_with_its_call(tmp_path: Path) -> None:
    kept = KeptTasks(tmp_path / "tasks.json")
    features = ClientFeatures(limits=ClientLimits(task_seconds=0.5), tasks=kept)
    async with connected(tmp_path, features) as toolbox:
        late = await heard(toolbox, "endless")
    assert "no result of its task within 0.5 s" in late.value
    assert json.loads((tmp_path / "tasks.json").read_text())["tasks"] == []


@pytest.mark.requirement("I12.2.23")
async def test_a_call_is_taken_up_as_the_task_that_it_runs_as_already(tmp_path: Path) -> None:
    kept = KeptTasks(tmp_path / "tasks.json")
    async with connected(tmp_path, ClientFeatures(tasks=kept)) as toolbox:
        (spec,) = (each for each in toolbox.tools if each.name == "slow")
        connection = toolbox._connections["mine"]
        started = await connection.call("slow", {}, meta={PRINCIPAL_META: LOCAL_USER})
        assert started.task is not None  # type: ignore[union-attr]
        key = call_key(connection.spec.address, LOCAL_USER, "talk", "slow", {})
        kept.keep(key, started.task["taskId"], 60)  # type: ignore[union-attr,index]
        again = await toolbox.call(spec, {}, "1", "talk")
        assert (again.result["result"], kept.find(key)) == ("at last", None)
        kept.keep(key, "unknown", 60)
        anew = await toolbox.call(spec, {}, "1", "talk")
        assert (anew.result["result"], kept.find(key)) == ("at last", None)
        (tmp_path / "tasks.json").write_text("broken")
        told = await heard(toolbox, "slow")
    assert told.value == "at last"
    assert "tasks.json: the file cannot be read" in "".join(notice.text for notice in told.of(CallNotice))


@pytest.mark.requirement("I12.2.23")
async def test_a_bridge_that_is_killed_has_kept_the_task_of_its_call(tmp_path: Path) -> None:
    program = tmp_path / "hold.py"
    program.write_text(
        "import sys, anyio\nfrom pathlib import Path\n"
        "from toolspan_bridge import ClientFeatures, KeptTasks, Toolbox\n"
        "from toolspan_bridge.toolbox import own_server\nfrom toolspan_server.config import load_config\n"
        "async def main():\n"
        "    client = ClientFeatures(tasks=KeptTasks(Path(sys.argv[2])))\n"
        "    servers = [own_server(load_config(Path(sys.argv[1])))]\n"
        "    async with Toolbox.connect(servers, client=client, connect_timeout=60) as toolbox:\n"
        "        (spec,) = [tool for tool in toolbox.tools if tool.name == 'endless']\n"
        "        await toolbox.call(spec, {}, '1', 'talk')\n"
        "anyio.run(main)\n"
    )
    async with connected(tmp_path):
        pass
    place = tmp_path / "tasks.json"
    with anyio.fail_after(BOUND_S):
        config = str(tmp_path / "toolspan.json")
        async with await anyio.open_process([sys.executable, str(program), config, str(place)]) as process:
            while not place.exists():  # noqa: ASYNC110 - another process makes it
                await anyio.sleep(0.02)
            process.kill()
    assert len(json.loads(place.read_text())["tasks"]) == 1


HOLDER = """
import sys, anyio
from pathlib import Path
from toolspan_bridge import ClientFeatures, KeptTasks, ServerSpec, Toolbox

class Telling(KeptTasks):
    def keep(self, call, task, seconds):
        super().keep(call, task, seconds)
        print("runs as", task, flush=True)

async def main():
    client = ClientFeatures(tasks=Telling(Path(sys.argv[2])))
    servers = [ServerSpec("far", kind="http", url=sys.argv[1])]
    async with Toolbox.connect(servers, client=client, connect_timeout=60) as toolbox:
        (spec,) = [tool for tool in toolbox.tools if tool.name == "asks"]
        print((await toolbox.call(spec, {}, "1", "talk")).result["success"], flush=True)

anyio.run(main)
"""


@pytest.mark.long
@pytest.mark.requirement("I12.2.23")
async def test_a_bridge_that_was_killed_takes_up_the_task_at_a_server_that_went_on(tmp_path: Path) -> None:
    path, program = tmp_path / "toolspan.json", tmp_path / "hold.py"
    waits = tool("asks", {"delay_ms": 6_000, "response": "at last"})
    path.write_text(json.dumps({"version": 1, "name": "far", "tools": {"registry": [waits]}}))
    program.write_text(HOLDER)
    with http_server(path) as served, anyio.fail_after(BOUND_S):
        command = [sys.executable, str(program), f"{served.url}/mcp", str(tmp_path / "tasks.json")]
        async with await anyio.open_process(command) as killed:
            assert killed.stdout is not None
            first = (await killed.stdout.receive()).decode()
            killed.kill()
        assert first.startswith("runs as ")
        ended = await anyio.run_process(command)
    assert ended.stdout.decode() == f"{first}True\n"
    assert json.loads((tmp_path / "tasks.json").read_text())["tasks"] == []
