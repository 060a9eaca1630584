"""``Bash``, ``BashOutput`` and ``KillShell``, called as a client's request calls them."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.asked_client import Waiting, declining
from tests.support.commands import running
from tests.support.waiting import until
from tests.support.workspaces import WorkspaceTools, workspace_tools
from toolspan_server import Context
from toolspan_server.calls.caller import LOCAL
from toolspan_server.engines.sandbox._choice import Choice

pytestmark = [
    pytest.mark.long,
    pytest.mark.anyio,
    pytest.mark.requirement("I12.3.24"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]


def tools(folder: Path, **bash: Any) -> Any:
    return workspace_tools(folder, folder.parent / "state", bash=bash)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


def unusual() -> str:
    return f"{1_000_000 + secrets.randbelow(1_000_000_000)}"


async def read_all(workspace: WorkspaceTools, name: str) -> dict[str, Any]:
    """All output of a command in the background, read while it runs, and its last state."""
    parts: list[str] = []
    while True:
        state = await workspace.good("BashOutput", bash_id=name)
        parts.append(state["output"])
        if state["status"] == "ended":
            return {**state, "output": "".join(parts)}
        await asyncio.sleep(0.01)


async def test_a_command_gives_its_output_and_its_status(folder: Path) -> None:
    async with tools(folder) as workspace:
        result = await workspace.good("Bash", command="echo out; echo err >&2; exit 4", description="Say it")
    del result["sandbox"]
    assert result == {"output": "out\nerr\n", "exit_code": 4, "timed_out": False, "output_bytes": 8}


async def test_a_command_that_takes_too_long_gives_what_it_wrote_until_then(folder: Path) -> None:
    async with tools(folder) as workspace:
        result = await workspace.good("Bash", command="echo begun; sleep 100", timeout=700)
    assert (result["output"], result["exit_code"], result["timed_out"]) == ("begun\n", None, True)
    assert result["ended_by"] == "its timeout of 700 ms"


@pytest.mark.parametrize(
    ("limits", "command", "told"),
    [
        ({"total_output_bytes": 5_000}, "yes", "bash.limits.total_output_bytes, which is 5,000"),
        ({"cpu_seconds": 1}, "while :; do :; done", "bash.limits.cpu_seconds, which is 1"),
        (
            {"processes": 3},
            "for i in 1 2 3 4 5; do sleep 50 & done; wait",
            "bash.limits.processes, which is 3",
        ),
    ],
)
async def test_the_limit_that_ended_a_command_is_named(
    folder: Path, limits: dict[str, int], command: str, told: str
) -> None:
    async with tools(folder, limits=limits) as workspace:
        result = await workspace.good("Bash", command=command)
    assert (result["ended_by"], result["exit_code"]) == (told, None)


async def test_a_timeout_beyond_the_limit_and_a_nul_are_refused(folder: Path) -> None:
    async with tools(folder, limits={"max_timeout_ms": 1_000}) as workspace:
        refused = await workspace.refused("Bash", command="true", timeout=2_000)
        assert "bash.limits.max_timeout_ms" in refused
        assert (await workspace.refused("Bash", command="true\0")).startswith("invalid_parameters")


async def test_a_command_in_the_background_goes_on_and_its_output_comes_once(folder: Path) -> None:
    async with tools(folder) as workspace:
        command = "echo first; while [ ! -e go ]; do sleep 0.02; done; echo second; exit 5"
        begun = await workspace.good("Bash", command=command, run_in_background=True)
        name, seen = begun["bash_id"], ""
        while "first" not in seen:
            await asyncio.sleep(0.01)
            seen += (await workspace.good("BashOutput", bash_id=name))["output"]
        (folder / "go").touch()
        ended = await read_all(workspace, name)
        last = await workspace.good("BashOutput", bash_id=name)
    assert begun["status"] == "running"
    assert (ended["output"], ended["exit_code"], last["output"]) == ("second\n", 5, "")


async def test_a_filter_gives_only_the_lines_that_match(folder: Path) -> None:
    async with tools(folder) as workspace:
        begun = await workspace.good(
            "Bash", command="printf 'ok 1\\nbad 2\\nok 3\\n'; sleep 100", run_in_background=True
        )
        seen = ""
        while "ok 3" not in seen:
            await asyncio.sleep(0.01)
            seen += (await workspace.good("BashOutput", bash_id=begun["bash_id"], filter="^ok"))["output"]
        refused = await workspace.refused("BashOutput", bash_id=begun["bash_id"], filter="(a+)\\1")
    assert seen == "ok 1\nok 3\n"
    assert "not an RE2 pattern" in refused


async def test_a_killed_command_ends_with_all_that_it_started(folder: Path) -> None:
    n = unusual()
    async with tools(folder) as workspace:
        text = f"trap '' TERM; setsid sleep {n} & sleep {n}"
        begun = await workspace.good("Bash", command=text, run_in_background=True)
        await until(lambda: running(n))
        killed = await workspace.good("KillShell", shell_id=begun["bash_id"])
        assert not running(n)
        again = await workspace.good("KillShell", shell_id=begun["bash_id"])
        assert (await workspace.good("BashOutput", bash_id=begun["bash_id"]))["status"] == "ended"
    assert (killed["ended"], again["ended"]) == (True, False)


async def test_commands_in_the_background_end_with_the_server_or_their_time(folder: Path) -> None:
    n = unusual()
    async with tools(folder, limits={"background_timeout_ms": 300}) as workspace:
        begun = await workspace.good("Bash", command="sleep 100", run_in_background=True)
        assert (await read_all(workspace, begun["bash_id"]))["timed_out"]
    async with tools(folder) as workspace:
        await workspace.good("Bash", command=f"setsid sleep {n} & sleep {n}", run_in_background=True)
        await until(lambda: running(n))
    assert not running(n)


async def test_their_number_is_limited_for_each_conversation(folder: Path) -> None:
    async with tools(folder, limits={"background": 2, "background_total": 3}) as workspace:
        names = [
            (await workspace.good("Bash", command="sleep 100", run_in_background=True))["bash_id"]
            for _ in "ab"
        ]
        refused = await workspace.refused("Bash", command="sleep 100", run_in_background=True)
        await workspace.good("Bash", "other", command="sleep 100", run_in_background=True)
        total = await workspace.refused("Bash", "other", command="sleep 100", run_in_background=True)
        await workspace.good("KillShell", shell_id=names[0])
        await workspace.good("Bash", command="sleep 100", run_in_background=True)
    assert "background is 2" in refused
    assert "background_total is 3" in total


async def test_another_conversation_neither_reads_nor_ends_them(folder: Path) -> None:
    async with tools(folder) as workspace:
        begun = await workspace.good("Bash", "one", command="echo mine; sleep 100", run_in_background=True)
        for tool, key in (("BashOutput", "bash_id"), ("KillShell", "shell_id")):
            refused = await workspace.refused(tool, "two", **{key: begun["bash_id"]})
            assert refused.startswith("shell_not_found: ")
            assert "none was started in this conversation" in refused
        assert (await workspace.good("BashOutput", "one", bash_id=begun["bash_id"]))["status"] == "running"


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_person_is_asked_first_and_a_denied_command_never_starts(
    folder: Path, *, allowed: bool
) -> None:
    client = Waiting() if allowed else Waiting(declining)
    async with workspace_tools(folder, folder.parent / "state", source={"approval": True}) as workspace:
        result = await workspace.runtime.execute(
            "Bash", {"command": "touch ran"}, Context(LOCAL, client=client)
        )
    assert "touch ran" in next(iter(client.asked.values())).params["message"]
    assert result.error_code == ("" if allowed else "denied")
    assert (folder / "ran").exists() is allowed


@pytest.mark.requirement("I12.3.47")
async def test_the_definition_says_what_confines_commands_and_without_a_sandbox_each_is_asked_about(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tools(folder, sandbox="off") as workspace:
        config = next(tool.config for tool in workspace.runtime.registry if tool.name == "Bash")
        assert (await workspace.refused("Bash", command="true")).startswith("approval_required: ")
        allowed = await workspace.runtime.execute(
            "Bash", {"command": "true"}, Context(LOCAL, client=Waiting())
        )
    assert "WITHOUT a sandbox (it is off in the config)" in config.description
    assert {"sandbox:none", "network:on"} <= set(config.tags)
    assert allowed.result["sandbox"] == "none"
    assert config.annotations is not None
    assert (config.annotations.destructive, config.annotations.read_only) == (True, False)
    monkeypatch.setattr(
        "toolspan_server.engines.sandbox._runner.choice", lambda: Choice(None, "bwrap is not installed")
    )
    async with tools(folder, sandbox="required") as workspace:
        refused = await workspace.refused("Bash", command="touch ran")
    assert refused.startswith("no_sandbox: ")
    assert not (folder / "ran").exists()


async def test_the_config_and_the_state_of_the_server_cannot_be_changed_by_a_confined_command(
    folder: Path,
) -> None:
    from toolspan_server.engines.sandbox._choice import choice

    if choice().confinement is None:
        pytest.skip("bubblewrap does not work here")
    state = folder / ".state"
    state.mkdir()
    (state / "record").write_text("kept")
    async with workspace_tools(folder, state, bash={"sandbox": "required"}) as workspace:
        await workspace.good("Bash", command="echo evil > .state/record; mv .state other; rm -rf .state")
    assert (state / "record").read_text() == "kept"
