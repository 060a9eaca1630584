"""The calculator with a history: exact results, plain refusals, and one history for each conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from tests.support.asgi import Client
from tests.support.cost import at_most
from tests.support.served import INITIALIZE, call
from toolspan_server import Context, Executor, FileStore, Registry, load_config, running
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL
from toolspan_server.calls.context import Surroundings
from toolspan_server.calls.results import ToolResult
from toolspan_server.http_server.access import AccessOptions
from toolspan_server.protocol.http.app import Application

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.4.20")]

CONFIG = Path(__file__).parents[4] / "configs" / "calculator.yaml"
SEED_PARAMETERS = {
    "type": "object",
    "properties": {
        "expression": {
            "type": "string",
            "description": "A valid mathematical expression to evaluate. Examples: '2 + 2' (addition), "
            "'pow(2, 8)' (exponentiation), 'abs(-5)' (absolute value), 'max(10, 20, 30)' (maximum), "
            "'(5 + 3) * 2' (with parentheses). Do not include variable assignments or code statements - only "
            "mathematical expressions.",
        }
    },
    "required": ["expression"],
    "additionalProperties": False,
}
SEED_DESCRIPTION = (
    "Evaluates mathematical expressions and returns the numeric result. Use this when the user asks for "
    "calculations, math operations, or numeric computations. Supports basic arithmetic operators (+, -, *, "
    "/, **, %) and mathematical functions (abs, min, max, round, sum, pow). Returns an error for invalid "
    "expressions or unsafe operations."
)


def executor(folder: Path) -> Executor:
    config = load_config(CONFIG)
    return Executor(Registry.from_config(config), surroundings=Surroundings(store=FileStore(folder)))


async def calculate(folder: Path, expression: Any, conversation: str = "c-1") -> ToolResult:
    context = Context(LOCAL, meta={CONVERSATION_KEY: conversation})
    return await executor(folder).execute("calculator", {"expression": expression}, context)


def history(folder: Path, conversation: str = "c-1") -> list[dict[str, Any]]:
    stored: dict[str, Any] = json.loads((folder / "local" / conversation / "calculator.json").read_text())
    assert list(stored) == ["history"]
    found: list[dict[str, Any]] = stored["history"]
    return found


def test_its_definition_is_the_seeds_and_strict() -> None:
    [tool] = load_config(CONFIG).tools.registry
    assert (tool.name, tool.description, tool.strict) == ("calculator", SEED_DESCRIPTION, True)
    assert tool.parameters == SEED_PARAMETERS


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", 4),
        ("pow(2, 8)", 256),
        ("abs(-5)", 5),
        ("max(10, 20, 30)", 30),
        ("(5 + 3) * 2", 16),
        ("min(3, 1.5)", 1.5),
        ("round(2.567, 2)", 2.57),
        ("sum([1, 2, 3])", 6),
        ("sum(1, 2, 3)", 6),
        ("2 ** 10", 1_024),
        ("7 / 2", 3.5),
        ("7 % 4", 3),
        ("-2 ** 2", -4),
        ("10 ** 400", 10**400),
    ],
)
async def test_the_result_comes_with_its_expression(tmp_path: Path, expression: str, value: Any) -> None:
    result = await calculate(tmp_path, expression)
    assert result.result == {"success": True, "result": value, "expression": expression}
    assert repr(result.result["result"]) == repr(value)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "it is empty"),
        ("2 +", "it ends too early"),
        ("1 / 0", "division by zero"),
        ("sqrt(4)", "unknown name 'sqrt'"),
        ("pi", "unknown name 'pi'"),
        ("7 // 2", "unknown operator '//' at column 3 (divide with /)"),
        ("2 ^ 3", "unknown operator '^' at column 3 (write ** for a power)"),
        ("__import__('os').system('id')", "unexpected character"),
        ("x = 1", "unexpected character '='"),
        ("abs", "is a function"),
        ("abs.real", "unexpected character '.'"),
        ("[1, 2]", "several values are only allowed inside a function's brackets"),
        ("(lambda: 1)()", "unexpected character ':'"),
        ("1 if 1 else 2", "unknown name 'if'"),
        ("1" * 1_001, "it has 1,001 characters, the limit is 1,000"),
        ("1+" * 499 + "1", "more than 200 numbers and operations"),
    ],
)
async def test_what_is_no_expression_is_refused_with_the_reason_and_not_kept(
    tmp_path: Path, expression: str, why: str
) -> None:
    result = await calculate(tmp_path, expression)
    assert (result.success, result.error_code) == (False, "invalid_expression")
    assert result.error.startswith("Invalid expression: ") and why in result.error
    assert not (tmp_path / "local").exists()


@pytest.mark.parametrize(
    "expression",
    [
        "9 ** 9 ** 9",
        "pow(9, pow(9, 9))",
        "(10 ** 3000) * (10 ** 3000)",
        "9 ** (9 ** 9) % 7",
        "*".join(["(9 ** 3000)"] * 60),
        "2 ** 9999 % 3 + " * 40 + "1",
        "round(9 ** 3000, -400) + " * 40 + "1",
        "max(" * 49 + "9 ** 9 ** 9" + ")" * 49,
    ],
)
async def test_no_expression_takes_longer_than_its_second(tmp_path: Path, expression: str) -> None:
    await calculate(tmp_path, "1")
    with at_most(units=60):
        await calculate(tmp_path, expression[:1_000])


@pytest.mark.parametrize("expression", [7, None, ["2"], {}])
async def test_an_expression_is_a_text(tmp_path: Path, expression: Any) -> None:
    result = await calculate(tmp_path, expression)
    assert result.error_code == "invalid_parameters"


async def test_each_conversation_has_the_last_100_calculations_the_oldest_first(tmp_path: Path) -> None:
    for number in range(103):
        await calculate(tmp_path, f"{number} + 1")
    await calculate(tmp_path, "7 * 6", "c-2")
    kept = history(tmp_path)
    assert [entry["expression"] for entry in kept] == [f"{number} + 1" for number in range(3, 103)]
    assert [entry["result"] for entry in kept] == list(range(4, 104))
    assert all(list(entry) == ["expression", "result", "timestamp"] for entry in kept)
    assert all(type(entry["timestamp"]) is int for entry in kept)
    assert [entry["expression"] for entry in history(tmp_path, "c-2")] == ["7 * 6"]


async def test_calculations_at_the_same_time_are_all_in_the_history(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(calculate, tmp_path, f"{number}")
    assert sorted(entry["result"] for entry in history(tmp_path)) == list(range(20))


@pytest.mark.requirement("I12.4.12")
@pytest.mark.parametrize(
    "stored", ["{", '{"history": 7}', '{"history": {"a": 1}}'], ids=["cut", "number", "object"]
)
async def test_a_history_that_is_damaged_is_an_error_and_stays_as_it_is(tmp_path: Path, stored: str) -> None:
    await calculate(tmp_path, "1")
    path = tmp_path / "local" / "c-1" / "calculator.json"
    path.write_text(stored)
    result = await calculate(tmp_path, "2 + 2")
    assert (result.success, result.error_code) == (False, "storage_damaged")
    assert path.read_text() == stored


@pytest.mark.requirement("I12.4.13")
async def test_over_http_the_history_belongs_to_the_principal_of_the_token(tmp_path: Path) -> None:
    tokens = [{"name": name, "token": f"{name}-0123456789abcdef"} for name in ("ann", "bob")]
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({**yaml.safe_load(CONFIG.read_text()), "auth": {"tokens": tokens}}))
    async with running(load_config(path)) as runtime, anyio.create_task_group() as helpers:
        application = Application(runtime, AccessOptions("127.0.0.1"), helpers)
        client = Client(application.app)
        for token, expression in (("ann", "1 + 1"), ("bob", "2 + 2"), ("ann", "3 + 3")):
            await ask(client, token, expression, "shared name")
        await ask(client, "ann", "4 + 4", "other")
        application.close()
        helpers.cancel_scope.cancel()
    folder = tmp_path / ".toolspan" / "storage"
    users = {path.name.partition("~")[0]: path for path in folder.iterdir()}
    assert sorted(users) == ["token-ann", "token-bob"]
    found = {
        f"{name}/{path.parent.name.partition('~')[0]}": [
            entry["expression"] for entry in json.loads(path.read_text())["history"]
        ]
        for name, user in users.items()
        for path in user.glob("*/calculator.json")
    }
    assert found == {
        "token-ann/shared-name": ["1 + 1", "3 + 3"],
        "token-ann/other": ["4 + 4"],
        "token-bob/shared-name": ["2 + 2"],
    }


async def ask(client: Client, token: str, expression: str, conversation: str) -> None:
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "authorization": f"Bearer {token}-0123456789abcdef",
    }
    opened = await client.ask("POST", json.dumps(INITIALIZE).encode(), headers)
    headers |= {
        "mcp-session-id": opened.headers["mcp-session-id"],
        "mcp-protocol-version": "2025-11-25",
    }
    request = call(1, "calculator", {"expression": expression}, _meta={CONVERSATION_KEY: conversation})
    reply = await client.ask("POST", json.dumps(request).encode(), headers)
    [answer] = [each for each in reply.messages if each.get("id") == 1]
    assert answer["result"]["structuredContent"]["success"] is True
