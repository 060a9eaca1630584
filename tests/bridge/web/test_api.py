"""The API over a running app: resources, problems, keys that make requests safe to repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.web_app import WebApp, web_app

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    """One app for all tests, which change nothing that another one looks at."""
    with web_app(tmp_path_factory.mktemp("app")) as running:
        yield running


def _problem(reply: Any, status: int) -> dict[str, Any]:
    """The problem of ``reply``, which has the shape of RFC 9457."""
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = reply.json
    assert found["status"] == status
    assert found["detail"] and found["title"] and found["code"]
    assert found["type"] in ("about:blank", f"urn:toolspan:error:{found['code']}")
    return found


@pytest.mark.requirement("I15.1.1")
def test_health_says_what_is_connected(app: WebApp) -> None:
    found = app.ask("GET", "/api/health").json
    assert found["status"] == "ok"
    assert found["config"]["problems"] == []
    assert found["servers"] == {"connected": 1, "failed": 0}
    assert found["tools"] == 2


@pytest.mark.requirement("I15.1.2")
def test_tools_are_listed_in_the_shape_of_the_seed(app: WebApp) -> None:
    found = app.ask("GET", "/api/tools/list").json
    weather = next(each for each in found["tools"] if each["name"] == "get_weather")
    assert weather["description"] == "The weather of a city"
    assert weather["parameters"]["required"] == ["city"]
    assert weather["implementation"]["type"] == "mock"
    assert (weather["display_name"], weather["category"], weather["is_builtin"]) == (
        "Weather",
        "weather",
        False,
    )
    assert found["next_cursor"] is None


@pytest.mark.requirement("I15.1.3")
def test_pages_of_a_list_have_every_entry_once(app: WebApp) -> None:
    first = app.ask("GET", "/api/tools/list?limit=1").json
    second = app.ask("GET", f"/api/tools/list?limit=1&cursor={first['next_cursor']}").json
    names = [tool["name"] for tool in (*first["tools"], *second["tools"])]
    assert names == ["get_weather", "remove_all"]
    assert second["next_cursor"] is None
    assert _problem(app.ask("GET", "/api/tools/list?cursor=nonsense"), 400)["code"] == "bad_cursor"


@pytest.mark.requirement("I15.1.4")
def test_a_call_gives_the_tool_result_and_a_failure_is_no_problem(app: WebApp) -> None:
    called = app.ask("POST", "/api/tools/call", {"name": "get_weather", "arguments": {"city": "Oslo"}})
    assert (called.status, called.json["success"], called.json["result"]) == (200, True, {"temperature": 21})
    assert called.json["tool_name"] == "get_weather"
    failed = app.ask("POST", "/api/tools/call", {"name": "get_weather", "arguments": {}})
    assert (failed.status, failed.json["success"], failed.json["error_code"]) == (
        200,
        False,
        "invalid_parameters",
    )
    assert _problem(app.ask("POST", "/api/tools/call", {"name": "nothing"}), 404)["code"] == "tool_not_found"


@pytest.mark.requirement("I15.1.4")
def test_a_call_that_needs_approval_is_made_only_with_it(app: WebApp) -> None:
    asked = app.ask("POST", "/api/tools/call", {"name": "remove_all"})
    assert _problem(asked, 409)["code"] == "approval_needed"
    allowed = app.ask("POST", "/api/tools/call", {"name": "remove_all", "approved": True})
    assert allowed.json["result"] == "gone"


@pytest.mark.requirement("I15.1.5")
def test_the_payload_of_every_format_is_shown_with_its_losses(app: WebApp) -> None:
    server = app.ask("GET", "/api/tools/list").json["tools"][0]["server"]
    found = app.ask("GET", f"/api/tools/{server}/get_weather/payloads").json["payloads"]
    by_format = {each["format"]: each for each in found}
    assert {"anthropic", "bedrock", "gemini", "ollama", "openai"} <= by_format.keys()
    assert by_format["anthropic"]["payload"][0]["input_schema"]["required"] == ["city"]
    assert all(isinstance(each["losses"], list) for each in found)


@pytest.mark.requirement("I15.1.6")
def test_a_test_gives_answer_and_calls_as_the_seed_page_reads_them(app: WebApp) -> None:
    wanted = {"query": "What is the weather? city=Paris", "model": "offline/keyword"}
    found = app.ask("POST", "/api/tools/test", wanted).json
    call = found["tool_calls"][0]
    assert found["success"] and found["answer"] == found["content"]
    assert (call["tool"], call["params"], call["iteration"]) == ("get_weather", {"city": "Paris"}, 1)
    assert call["service"] and call["result"]["result"] == {"temperature": 21}
    assert found["max_iterations_reached"] is False


@pytest.mark.requirement("I15.1.6")
@pytest.mark.parametrize(
    "body", [{}, {"query": "x"}, {"model": "offline/keyword"}, {"query": " ", "model": "m"}]
)
def test_a_test_without_query_or_model_is_refused_in_the_words_of_the_seed(
    app: WebApp, body: dict[str, Any]
) -> None:
    found = _problem(app.ask("POST", "/api/tools/test", body), 400)
    assert found["error"] == found["detail"] == "Missing query or model"


@pytest.mark.requirement("I15.1.7")
def test_outcomes_of_tests_are_counted_as_the_seeds_tracker_does(app: WebApp) -> None:
    path, model = "/api/tools/validate", "scripted/m"
    app.ask("POST", path, {"model": model, "success": True})
    record = app.ask("POST", path, {"model": model, "success": False, "details": "wrong tool"}).json
    assert (record["model_id"], record["test_count"], record["success_count"]) == (model, 2, 1)
    assert record["validated"] is False
    assert [each["success"] for each in record["test_history"]] == [True, False]


@pytest.mark.requirement("I15.1.8")
def test_presets_are_made_changed_and_deleted_with_the_words_of_the_seed(app: WebApp) -> None:
    path = "/api/presets"
    none = _problem(app.ask("POST", path, {"name": "A", "enabled_tools": []}), 422)
    assert none["detail"] == "At least one tool must be enabled"
    unknown = _problem(app.ask("POST", path, {"name": "A", "enabled_tools": ["nope"]}), 422)
    assert unknown["detail"] == "Unknown tool: nope"
    made = app.ask("POST", path, {"name": "A", "enabled_tools": ["get_weather"]})
    assert (made.status, made.json["enabled_tools"]) == (201, ["get_weather"])
    _problem(app.ask("POST", path, {"name": "A"}), 409)
    changed = app.ask("PUT", f"{path}/A", {"instructions": "Be brief."}).json
    assert (changed["id"], changed["instructions"]) == (made.json["id"], "Be brief.")
    assert [each["name"] for each in app.ask("GET", path).json["presets"]] == ["A"]
    assert app.ask("DELETE", f"{path}/A").status == 204
    _problem(app.ask("GET", f"{path}/A"), 404)


@pytest.mark.requirement("I15.1.9")
def test_models_have_badges_and_providers_without_a_list_are_named(app: WebApp) -> None:
    found = app.ask("GET", "/api/models/list?provider=offline").json
    [model] = found["models"]
    assert (model["id"], model["capabilities"]) == ("offline/keyword", ["function-calling"])
    assert (model["badge"]["status"], model["badge"]["sign"]) == ("untested", "🔧⚠️")
    _problem(app.ask("GET", "/api/models/list?provider=nobody"), 422)


@pytest.mark.requirement("I15.1.10")
def test_the_four_usual_examples_are_offered(app: WebApp) -> None:
    found = app.ask("GET", "/api/examples").json["examples"]
    assert len(found) == 4
    assert found[0] == "What's the weather in Paris?"


@pytest.mark.requirement("I15.1.11")
def test_a_text_is_checked_as_a_config_and_nothing_is_written(app: WebApp) -> None:
    before = app.ask("GET", "/api/config").json
    text = "tools:\n  registry:\n    - {name: 3}\nauth: {tokens: [{name: a, token: '${NOT_SET}'}]}\n"
    found = app.ask("POST", "/api/config/check", {"text": text}).json["problems"]
    assert {problem["line"] for problem in found} == {3}
    assert app.ask("POST", "/api/config/check", {"text": before["text"]}).json["problems"] == []
    assert app.ask("GET", "/api/config").json == before


WITH_A_SECRET = """
name: a shop
mcpServers:
  other: {url: "https://other.example/mcp?key=hush-hush", disabled: true}
tools:
  default_timeout_ms: ${MOST_MS}
  registry:
    - name: look
      description: Looks
      annotations: {readOnlyHint: true}
      parameters: {type: object}
      implementation: {type: mock, response: 1}
"""


@pytest.mark.requirement("I15.1.11")
@pytest.mark.requirement("I24.3.2")
def test_the_shown_config_has_no_fault_at_what_was_left_out_and_all_others(tmp_path: Path) -> None:
    with web_app(tmp_path, config=WITH_A_SECRET, MOST_MS="30000") as app:
        text = app.ask("GET", "/api/config").json["text"]
        assert text.count("***") == 1
        assert "readOnlyHint: true" in text
        assert app.ask("POST", "/api/config/check", {"text": text}).json["problems"] == []
        wrong = text.replace("disabled: true", "disabled: 3").replace("name: look", "name: ''")
        found = app.ask("POST", "/api/config/check", {"text": wrong}).json["problems"]
        assert {each["path"] for each in found} == {"$.mcpServers.other.disabled", "$.tools.registry[0].name"}


@pytest.mark.requirement("I15.1.12")
def test_a_request_with_the_key_of_another_gets_its_answer_and_nothing_runs_twice(app: WebApp) -> None:
    def record(key: str, success: bool = True) -> Any:
        body = {"model": "scripted/once", "success": success}
        return app.ask("POST", "/api/tools/validate", body, Idempotency_Key=key)

    first, again, other = record("k1"), record("k1"), record("k2")
    assert first.body == again.body
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert (first.json["test_count"], other.json["test_count"]) == (1, 2)
    assert _problem(record("k1", success=False), 422)["code"] == "idempotency_key_reused"


@pytest.mark.requirement("I15.1.13")
@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 422),
        (b'{"name": "a", "name": "b"}', 400),
        (b'{"name": NaN}', 400),
        (b'{"name": 1e999}', 400),
        (b'{"name": "\\ud800"}', 400),
        (b"\xff", 400),
        (b'{"name":' + b"[" * 100_000, 400),
        (b'{"name": 3}', 422),
        (b'{"unknown": 3, "name": "a"}', 422),
        (b'{"name": "' + b"x" * (5 << 20) + b'"}', 413),
    ],
)
def test_a_body_that_is_none_is_a_problem_that_says_why(app: WebApp, raw: bytes, status: int) -> None:
    _problem(app.ask("POST", "/api/tools/call", raw=raw), status)


@pytest.mark.requirement("I15.1.13")
def test_a_wrong_value_is_pointed_at(app: WebApp) -> None:
    found = _problem(app.ask("POST", "/api/tools/call", {"name": "a", "arguments": 3}), 422)
    assert [each["pointer"] for each in found["errors"]] == ["/arguments"]
    query = _problem(app.ask("GET", "/api/tools/list?limit=0"), 422)
    assert [each["pointer"] for each in query["errors"]] == ["?limit"]


@pytest.mark.requirement("I15.1.13")
def test_what_is_not_there_and_methods_that_are_not_are_problems(app: WebApp) -> None:
    _problem(app.ask("GET", "/api/nothing"), 404)
    _problem(app.ask("GET", "/"), 404)
    refused = app.ask("DELETE", "/api/health")
    _problem(refused, 405)
    assert (
        refused.headers["allow"] == app.ask("OPTIONS", "/api/health").headers["allow"] == "GET, HEAD, OPTIONS"
    )
    head = app.ask("HEAD", "/api/health")
    assert (head.status, head.body) == (200, b"")
    _problem(app.ask("POST", "/api/tools/call", raw=b"{}", Content_Type="text/plain"), 415)


@pytest.mark.requirement("I15.1.14")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "file://"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200),
        ({}, 200),
    ],
)
@pytest.mark.parametrize("path", ["/api/tools/list", "/api/openapi.json"])
def test_pages_of_others_are_refused_and_ours_need_no_token(
    app: WebApp, path: str, headers: dict[str, str], status: int
) -> None:
    reply = app.ask("GET", path, **{name.replace("-", "_"): value for name, value in headers.items()})
    assert reply.status == status
    assert "access-control-allow-origin" not in reply.headers
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert "unsafe" not in reply.headers["content-security-policy"]


@pytest.mark.requirement("I15.1.14")
def test_our_own_page_may_send(app: WebApp) -> None:
    body = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    sent = app.ask("POST", "/api/tools/call", body, Origin=app.url, Sec_Fetch_Site="same-origin")
    assert sent.json["success"]


@pytest.mark.requirement("I15.1.15")
def test_the_description_names_every_endpoint_and_its_page_has_no_script(app: WebApp) -> None:
    document = app.ask("GET", "/api/openapi.json").json
    assert document["openapi"] == "3.1.0"
    assert {"/api/health", "/api/tools/call", "/api/presets/{name}", "/api/events"} <= document[
        "paths"
    ].keys()
    assert "RFC 9457" in json.dumps(document)
    page = app.ask("GET", "/api/docs")
    assert page.headers["content-type"].startswith("text/html")
    text = page.body.decode()
    assert "<script" not in text and "style=" not in text
    assert all(path in text for path in document["paths"])
    assert app.ask("GET", "/api/docs.css").headers["content-type"].startswith("text/css")
