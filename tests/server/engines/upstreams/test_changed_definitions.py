"""An upstream that says something else of its tools than before is noticed, in one run and after another."""

from __future__ import annotations

import json
import logging
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.upstreams import SERVERS, served, talker, until
from toolspan_server.calls.caller import LOCAL
from toolspan_server.common.state.folder import private_folder
from toolspan_server.engines.definitions import (
    Change,
    Definitions,
    DefinitionsFile,
    Fingerprint,
    compared,
    fingerprint,
)
from toolspan_server.live.runtime import Runtime

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I9.2.16")]

TOOL: dict[str, Any] = {
    "name": "pay",
    "title": "Pay",
    "description": "Pays.",
    "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://example.com/i.png"}],
    "_meta": {"example.com/kind": 1},
}
FILE = Path(".toolspan/definitions/shop.json")


def listing(folder: Path, *tools: dict[str, Any]) -> dict[str, Any]:
    """The upstream ``shop`` with these tools."""
    file = folder / "tools.json"
    file.write_text(json.dumps(tools))
    return {"shop": {"command": sys.executable, "args": [str(SERVERS / "listing.py"), str(file)]}}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def changes(runtime: Runtime) -> list[tuple[str, str, list[str]]]:
    told = runtime.health()["sources"][0].get("changes", [])
    return [(each["kind"], each["tool"], each.get("keys", [])) for each in told]


async def started(folder: Path, *tools: dict[str, Any], told: int = 0) -> list[tuple[str, str, list[str]]]:
    """The changes that a server tells of, once its upstream's tools are kept and there are ``told``."""
    async with served(folder, listing(folder, *tools)) as runtime:
        wanted = {tool["name"] for tool in tools}
        await until(lambda: set(kept(folder).get("tools", {})) == wanted)
        await until(lambda: len(changes(runtime)) >= told)
        return changes(runtime)


def kept(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / FILE).read_text())  # type: ignore[no-any-return]  # every one is an object
    except FileNotFoundError:
        return {}


@pytest.mark.long
@pytest.mark.parametrize("key", [key for key in TOOL if key != "name"])
async def test_every_part_of_a_definition_that_changes_between_two_runs_is_told(
    tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    other = {**TOOL, "name": "other"}
    assert await started(tmp_path, TOOL, other) == []
    assert warnings(caplog) == []
    changed = {"type": "object", "title": "x"} if "Schema" in key else f"another {key}"
    told = await started(tmp_path, {**TOOL, key: changed}, other, told=1)
    assert told == [("changed", "pay", [key])]
    assert f"upstream 'shop': the definition of the tool 'pay' has changed: {key}" in warnings(caplog)


async def test_new_removed_and_returned_tools_are_told_and_stay_visible(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await started(tmp_path, TOOL)
    refund = {**TOOL, "name": "refund"}
    told = await started(tmp_path, refund, told=2)
    assert told == [("new", "refund", []), ("removed", "pay", [])]
    back = await started(tmp_path, refund, {**TOOL, "description": "Pays me."}, told=3)
    assert back == [*told, ("changed", "pay", ["description"])]
    assert await started(tmp_path, refund, {**TOOL, "description": "Pays me."}, told=3) == back
    assert [each for each in warnings(caplog) if "pay" in each] == [
        "upstream 'shop': the tool 'pay' is removed",
        "upstream 'shop': the definition of the tool 'pay' has changed: description",
    ]


async def test_the_same_definition_in_another_order_of_keys_is_no_change(tmp_path: Path) -> None:
    await started(tmp_path, TOOL)
    refund = {**TOOL, "name": "refund"}
    assert await started(tmp_path, dict(reversed(TOOL.items())), refund, told=1) == [("new", "refund", [])]


@pytest.mark.long
@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_list_that_changes_while_the_server_runs_is_told(
    tmp_path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path, {"talker": talker(era)}) as runtime:
        assert changes(runtime) == []
        await runtime.execute("grow", None, LOCAL)
        await until(lambda: changes(runtime) == [("new", "grown_0", [])])
    assert "upstream 'talker': the tool 'grown_0' is new" in warnings(caplog)


async def test_what_is_kept_is_for_its_owner_alone_and_holds_no_words_of_the_tools(tmp_path: Path) -> None:
    await started(tmp_path, TOOL)
    path = tmp_path / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "Pays" not in path.read_text() and [each.name for each in path.parent.iterdir()] == ["shop.json"]


async def test_a_file_that_cannot_be_used_is_set_aside_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await started(tmp_path, TOOL)
    path = tmp_path / FILE
    path.write_text('{"version": 1, "tools"')
    assert await started(tmp_path, {**TOOL, "title": "x"}) == []
    assert any("what its tools were is not known" in each for each in warnings(caplog))
    assert path.with_suffix(".unusable").read_text() == '{"version": 1, "tools"'


async def test_a_state_folder_that_cannot_be_written_is_told_and_the_tools_are_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (private_folder(tmp_path / ".toolspan") / "definitions").write_text("a file")
    async with served(tmp_path, listing(tmp_path, TOOL)) as runtime:
        assert [tool.name for tool in runtime.registry] == ["pay"]
        told = "a change of its tools will not be noticed after a restart"
        await until(lambda: any(told in each for each in warnings(caplog)))


def test_fingerprints_go_by_the_whole_object() -> None:
    assert fingerprint(TOOL) == fingerprint(dict(reversed(TOOL.items())))
    assert fingerprint(TOOL).digest != fingerprint({**TOOL, "unheardOf": None}).digest
    assert fingerprint({"a": True}).digest != fingerprint({"a": 1}).digest
    many = {f"k{number:03}": number for number in range(100)}
    assert fingerprint({**many, "k099": 0}).differs_in(fingerprint(many)) == ("others",)
    assert fingerprint({"\x1b[2J": 1}).differs_in(fingerprint({})) == (r"\x1b[2J",)


def test_of_a_list_that_was_cut_off_nothing_is_said_to_be_removed() -> None:
    one, two = fingerprint({"name": "one"}), fingerprint({"name": "two"})
    assert compared({"one": one, "two": two}, {"one": one}, {}, whole=False) == []
    assert compared({"one": one, "two": two}, {"one": one}, {}) == [Change("two", "removed")]


def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    known = Definitions()
    for number in range(0, 5_000, 500):
        tools = {f"t{number + each}": Fingerprint("0", {}) for each in range(500)}
        known.listed(tools, whole=True)
    assert (len(known.gone), len(known.changes)) == (1_000, 100)
    file = DefinitionsFile(tmp_path, "x")
    file.write(known)
    assert file.read() == known
