"""``toolspan init`` as a person uses it: whatever it writes, ``check`` accepts."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.served import tool
from tests.support.terminal import Terminal
from toolspan_server.config import load_config

pytestmark = pytest.mark.requirement("I4.3.10")
RAW = Path(__file__).parents[3] / "support" / "mcp_servers" / "raw.py"
SERVER = shlex.join([sys.executable, "-m", "toolspan_server", "--config"])


def written(place: Path, *arguments: str) -> dict[str, Any]:
    """Run ``init``, and ``check`` what it wrote; the tools by name."""
    done = toolspan("init", *arguments, "--json", cwd=place)
    assert done.code == 0, done.err
    assert done.json["path"] == str(place / "toolspan.yaml")
    assert toolspan("check", "--json", cwd=place).code == 0
    config = load_config(place / "toolspan.yaml")
    assert [each.name for each in config.tools.registry] == done.json["tools"]
    return {each.name: each for each in config.tools.registry}


def test_with_nothing_named_there_is_one_mock_that_can_be_called(tmp_path: Path) -> None:
    assert list(written(tmp_path)) == ["example"]
    called = toolspan("tools", "call", "example", "query=x", "--json", cwd=tmp_path)
    assert (called.code, called.json["result"]) == (0, {"answer": "A made-up answer."})


def test_mocks_and_requests_side_by_side(tmp_path: Path) -> None:
    tools = written(
        tmp_path,
        *("--mock", "find_user", "--mock", "greet.me"),
        *("--http", "https://api.example.com/users/{id}?lang={lang}"),
        *("--http", "https://api.example.com/users/{id}", "--http", "POST http://127.0.0.1:9/orders"),
    )
    assert list(tools) == ["find_user", "greet.me", "get_users", "get_users_2", "post_orders"]
    assert tools["get_users"].parameters["required"] == ["id", "lang"]
    assert tools["get_users"].implementation.url.startswith("https://api.example.com/users/{id}")
    assert tools["post_orders"].implementation.method == "POST"
    text = (tmp_path / "toolspan.yaml").read_text()
    assert text.startswith("# ")
    assert text.count("    # ") >= 5


SHOP = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://api.example.com"}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/orders": {
            "get": {"operationId": "listOrders", "responses": {"200": {"description": "ok"}}},
            "put": {"security": [{"key": []}], "responses": {"204": {"description": "ok"}}},
            "delete": {"operationId": "deleteOrders", "responses": {"204": {"description": "ok"}}},
        }
    },
}


@pytest.mark.requirement("I13.1.10")
def test_an_apis_tools_are_counted_and_what_is_left_out_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "shop.json").write_text(json.dumps(SHOP))
    done = toolspan("init", "--openapi", "api/shop.json", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.json["tools"] == ["listOrders", "deleteOrders"]
    assert done.json["left_out"] == ["PUT /orders: it needs credentials for one of: key"]
    (source,) = load_config(tmp_path / "toolspan.yaml").tools.sources
    assert (source.type, source.file) == ("openapi", "api/shop.json")  # type: ignore[attr-defined]  # of openapi
    told = toolspan("init", "--openapi", "api/shop.json", "--force", cwd=tmp_path)
    assert "left out: PUT /orders: it needs credentials" in told.err
    assert "toolspan.yaml was written: 2 tools, 1 left out" in told.err


@pytest.mark.requirement("I13.1.10")
def test_where_no_tool_can_be_used_the_exit_code_says_so(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps({**SHOP, "servers": [{"url": "http://127.0.0.1:8000"}]}))
    done = toolspan("init", "--openapi", "shop.json", cwd=tmp_path)
    assert done.code == 5
    assert done.err.count("left out: ") == 3
    assert "DELETE /orders: $.url: the address 127.0.0.1 is loopback: list it in allow_private" in done.err
    assert "no tool can be used so far" in done.err


@pytest.mark.requirement("I13.1.10")
@pytest.mark.parametrize("text", ["name: mine\n", "<html></html>", "swagger: '2.0'\n", "\t: x", ""])
def test_a_file_that_is_no_api_description_is_an_error_and_nothing_is_written(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "x.yaml").write_text(text)
    done = toolspan("init", "--openapi", "x.yaml", "--json", cwd=tmp_path)
    assert (done.code, "x.yaml: " in done.error["message"]) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["x.yaml"]


class Site(FakeProvider):
    """A site with an API description, a page, and nothing else."""

    def respond(self, request: Received) -> Sent:
        if request.target == "/shop.json":
            return Sent({**SHOP, "servers": [{"url": "/"}]})
        if request.target == "/page":
            return Sent("<html></html>", headers={"Content-Type": "text/html"})
        return Sent({"error": "not found"}, status=404)


@pytest.mark.requirement("I13.1.10")
def test_a_url_is_fetched_and_what_is_no_description_there_is_an_error(tmp_path: Path) -> None:
    with Site(anything, []) as site:
        assert toolspan("init", "--openapi", f"{site.url}/shop.json", cwd=tmp_path).code == 0
        for place, why in (("nothing", "answered HTTP 404"), ("page", "it is no OpenAPI 3 description")):
            done = toolspan("init", "--openapi", f"{site.url}/{place}", "-o", "x.yaml", cwd=tmp_path)
            assert (done.code, why in done.err) == (2, True), done.err
    gone = toolspan("init", "--openapi", f"{site.url}/shop.json", "-o", "x.yaml", cwd=tmp_path)
    assert (gone.code, "No connection" in gone.err) == (4, True)
    assert not (tmp_path / "x.yaml").exists()


@pytest.mark.requirement("I13.1.11")
def test_an_editor_finds_the_schema_of_what_is_written(tmp_path: Path) -> None:
    assert toolspan("init", cwd=tmp_path).code == 0
    first = (tmp_path / "toolspan.yaml").read_text().splitlines()[0]
    place = first.removeprefix("# yaml-language-server: $schema=")
    schema = json.loads((tmp_path / place).read_text())
    jsonschema_rs.validator_for(schema).validate(yaml.safe_load((tmp_path / "toolspan.yaml").read_text()))
    assert schema["title"] == "Toolspan config"


@pytest.mark.long
@pytest.mark.requirement("I13.1.9")
def test_at_a_terminal_it_asks_what_there_is_and_again_where_an_answer_cannot_be(
    tmp_path: Path, other: Path
) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(SHOP))
    with Terminal("init", cwd=tmp_path) as terminal:
        for question, answer in (
            ("1 to 4 [1]", "7"),
            ("7 is none of them", "2"),
            ("URL, or METHOD URL", "example.com"),
            ("\n'example.com' is not an http or https URL", "https://api.example.com/users/{id}"),
            ("Anything else?", "3"),
            ("File or URL", "missing.json"),
            ("there is no such file", "shop.json"),
            ("Anything else?", "4"),
            ("Command or URL", "no-such-server --stdio"),
            ("there is no command 'no-such-server': install it, or correct it", f"{SERVER} {other}"),
            ("Call its tools", ""),
            ("Anything else?", "1"),
            ("Name of the tool [example]", ""),
            ("Anything else?", ""),
        ):
            terminal.until(question)
            terminal.type(f"{answer}\n")
        terminal.until("toolspan.yaml was written: 7 tools, 1 left out")
        assert terminal.ended() == 0
    listed = toolspan("tools", "list", "--json", "--trust", cwd=tmp_path)
    names = sorted(each["name"] for each in listed.json["tools"])
    assert names == ["deleteOrders", "erase", "example", "get_users", "listOrders", "odd", "weather"]


@pytest.mark.long
@pytest.mark.requirement("I13.2.7")
def test_what_it_waits_for_is_shown_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    silent = shlex.join([sys.executable, "-c", "import time; time.sleep(600)"])
    with Terminal("init", "--from-mcp", silent, cwd=tmp_path) as terminal:
        terminal.until("waiting for the tools of")
        terminal.type("\x03")
        terminal.until("interrupted")
        assert terminal.ended() == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.requirement("I13.1.9")
def test_ctrl_c_at_a_question_writes_nothing(tmp_path: Path) -> None:
    with Terminal("init", cwd=tmp_path) as terminal:
        terminal.until("1 to 4 [1]")
        terminal.type("\x03")
        terminal.until("\r\ninterrupted")
        assert terminal.ended() == 130
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The config of a server whose tools are recorded."""
    folder = tmp_path_factory.mktemp("other")
    string = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    weather = {"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]}
    tools = [
        tool(
            "weather",
            {"type": "mock", "mock_response": {"degrees": 21}},
            parameters=string,
            output_schema=weather,
            annotations={"readOnlyHint": True},
            title="The weather",
        ),
        tool("erase", {"type": "mock", "mock_response": "erased"}),
        tool("odd", {"type": "mock", "mock_response": "{{ city }} costs $${PRICE}: 12:30, no"}),
    ]
    path = folder / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": tools}}))
    return path


def test_another_servers_tools_are_recorded_without_calling_them(tmp_path: Path, other: Path) -> None:
    tools = written(tmp_path, "--from-mcp", f"{SERVER} {other}")
    assert list(tools) == ["weather", "erase", "odd"]
    weather = tools["weather"]
    assert weather.description == "The tool weather."
    assert weather.title == "The weather"
    assert weather.annotations.read_only is True
    assert weather.parameters["required"] == ["city"]
    assert weather.output_schema is not None
    assert weather.implementation.mock_response == {"degrees": 1}
    assert tools["erase"].implementation.mock_response == "An example answer of erase."


def test_a_server_that_writes_an_older_draft_is_recorded_in_the_words_of_2020_12(tmp_path: Path) -> None:
    raw = shlex.join([sys.executable, str(RAW), "old_draft"])
    parameters = written(tmp_path, "--from-mcp", raw)["old"].parameters
    assert "$schema" not in parameters
    assert parameters["properties"]["pair"]["prefixItems"] == [{"type": "string"}]
    assert parameters["$defs"]["n"]["exclusiveMinimum"] == 0


@pytest.mark.parametrize(
    ("calling", "erased"), [("read-only", "An example answer of erase."), ("all", "erased")]
)
def test_answers_are_recorded_of_the_tools_that_may_be_called(
    tmp_path: Path, other: Path, calling: str, erased: str
) -> None:
    tools = written(tmp_path, "--from-mcp", f"{SERVER} {other}", "--call", calling)
    assert tools["weather"].implementation.mock_response == {"degrees": 21}
    assert tools["erase"].implementation.mock_response == erased
    if calling == "all":
        assert tools["odd"].implementation.mock_response == "{{ city }} costs ${PRICE}: 12:30, no"


HTTP = ("--http", "http://127.0.0.1:9/users/{id}")


@pytest.mark.requirement("I24.1.2")
def test_what_was_written_is_trusted_as_it_is_and_not_as_it_is_changed(tmp_path: Path) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "user")}
    (place := tmp_path / "here").mkdir()
    assert toolspan("init", *HTTP, cwd=place, **state).code == 0
    called = toolspan("tools", "call", "get_users", "id=1", cwd=place, **state)
    assert "is not trusted" not in called.err and "127.0.0.1" in called.err, "it is asked, and is not there"
    assert str(place) in toolspan("trust", "list", cwd=place, **state).out
    path = place / "toolspan.yaml"
    path.write_text(path.read_text().replace("127.0.0.1:9", "127.0.0.1:8"))
    assert "is not trusted" in toolspan("tools", "call", "get_users", "id=1", cwd=place, **state).err


@pytest.mark.requirement("I24.1.2")
@pytest.mark.parametrize("name", ["other.yaml", "-"])
def test_what_nobody_would_find_is_not_trusted(name: str, tmp_path: Path) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "user")}
    assert toolspan("init", *HTTP, "-o", name, cwd=tmp_path, **state).code == 0
    assert toolspan("trust", "list", cwd=tmp_path, **state).out == "no folder is trusted\n"


@pytest.mark.requirement("I24.1.2")
def test_no_variable_is_sent_by_what_was_written(tmp_path: Path) -> None:
    url = "https://api.example.com/orders?key=${TOKEN}"
    assert toolspan("init", "--http", url, "--mock", "mock", cwd=tmp_path, TOKEN="x").code == 0
    assert not load_config(tmp_path / "toolspan.yaml").sent


def test_a_file_that_is_there_stays_without_force(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.yaml"
    path.write_text("mine")
    refused = toolspan("init", "--json", cwd=tmp_path)
    assert (refused.code, "--force" in refused.error["message"]) == (2, True)
    assert path.read_text() == "mine"
    assert toolspan("init", "--force", cwd=tmp_path).code == 0
    assert path.read_text() != "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == [".toolspan", "toolspan.yaml"]


def test_a_dash_prints_it(tmp_path: Path) -> None:
    printed = toolspan("init", "-o", "-", "--mock", "greet", cwd=tmp_path)
    assert (printed.code, "- name: greet" in printed.out, list(tmp_path.iterdir())) == (0, True, [])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--mock", "a b"], 2, "--mock 'a b'"),
        (["--mock", "a", "--mock", "A"], 2, "twice"),
        (["--http", "file:///etc/passwd"], 2, "not an http or https URL"),
        (["--http", "https://ann:pw@example.com"], 2, "password"),
        (["--http", "FETCH https://example.com"], 2, "no method"),
        (["--http", "https://example.com/{a"], 2, "brace"),
        (["--openapi", "missing.yaml"], 2, "no such file"),
        (["--from-mcp", "'open"], 2, "--from-mcp"),
        (["--from-mcp", f"{sys.executable} -c pass"], 4, "recorded"),
        (["--output", "missing/x.yaml"], 2, "is no folder"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    done = toolspan("init", *arguments, "--json", cwd=tmp_path)
    assert (done.code, message in done.error["message"]) == (code, True), done.err
    assert "pw" not in done.err
    assert not list(tmp_path.iterdir())
