"""The kind ``http``: where arguments go, what is refused when the config is read."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.configs import told
from tests.support.http_api import Api, data, http_tool, serving
from toolspan_server import Context, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.config import load_config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.3", "I4.4.1")]


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


def config(url: str, properties: str = "{a: {type: string}}", **implementation: Any) -> str:
    described = {"type": "http", "url": url, "allow_private": ["127.0.0.1"], **implementation}
    return f"""
tools:
  registry:
    - name: t
      description: T.
      parameters: {{type: object, properties: {properties}}}
      implementation: {json.dumps(described)}
"""


async def test_arguments_go_where_the_method_has_a_place_for_them(api: Api) -> None:
    arguments = {
        "id": "a/b",
        "q": "x y&z",
        "n": 1.5,
        "on": True,
        "none": None,
        "many": ["a", "b"],
        "o": {"k": 1},
    }
    async with http_tool(f"{api.url}/users/{{id}}?fixed=1") as call:
        assert (await call(**arguments)).success
    async with http_tool(f"{api.url}/users/{{id}}", method="POST") as call:
        assert (await call(**arguments)).success
    get, post = api.seen
    assert get.path == post.path == "/users/a%2Fb"
    assert get.query == [
        ("fixed", "1"),
        ("q", "x y&z"),
        ("n", "1.5"),
        ("on", "true"),
        ("many", "a"),
        ("many", "b"),
        ("o", '{"k":1}'),
    ]
    assert post.json == {name: value for name, value in arguments.items() if name != "id"}
    assert post.headers["content-type"] == "application/json"


async def test_the_mapping_says_the_name_and_the_place(api: Api) -> None:
    mapping: Any = {
        "location": "q",
        "who": {"in": "path", "name": "user"},
        "tag": {"in": "header", "name": "If-None-Match"},
        "sid": {"in": "cookie"},
        "page": {"in": "query", "name": "p", "style": "deepObject"},
    }
    async with http_tool(f"{api.url}/{{user}}", method="POST", params_mapping=mapping) as call:
        result = await call(location="Paris", who="me", tag='"1"', sid="a;b", page={"n": 2})
    assert result.success
    (seen,) = api.seen
    assert (seen.target, seen.json) == ("/me?p%5Bn%5D=2", {"q": "Paris"})
    assert (seen.headers["if-none-match"], seen.headers["cookie"]) == ('"1"', "sid=a%3Bb")


@pytest.mark.parametrize(
    ("style", "explode", "value", "query"),
    [
        ("form", None, ["a b", "c"], "v=a%20b&v=c"),
        ("form", False, ["a,b", "c"], "v=a%2Cb,c"),
        ("form", True, {"x": 1, "y": "z"}, "x=1&y=z"),
        ("form", False, {"x": 1, "y": "z"}, "v=x,1,y,z"),
        ("spaceDelimited", None, ["a", "b"], "v=a%20b"),
        ("pipeDelimited", None, ["a", "b"], "v=a%7Cb"),
        ("pipeDelimited", True, ["a", "b"], "v=a&v=b"),
        ("deepObject", None, {"x": [1]}, "v%5Bx%5D%5B0%5D=1"),
        ("json", None, ["a"], "v=%5B%22a%22%5D"),
    ],
)
async def test_lists_and_objects_are_written_in_their_style(
    api: Api, style: str, explode: bool | None, value: Any, query: str
) -> None:
    mapping = {"v": {"in": "query", "style": style, "explode": explode}}
    async with http_tool(api.url, params_mapping=mapping) as call:
        assert (await call(v=value)).success
    assert api.seen[0].target == f"/?{query}"


async def test_forms_and_files(api: Api) -> None:
    async with http_tool(api.url, method="POST", body_format="form") as call:
        assert (await call(a="x y", b=[1, 2], c=None)).success
    mapping: Any = {
        "doc": {"in": "file", "encoding": "base64", "filename": 'a".txt', "mime_type": "text/plain"},
    }
    async with http_tool(api.url, method="POST", params_mapping=mapping) as call:
        assert (await call(title="T\r\n--x", doc=b64encode(b"\x00\xff").decode())).success
        assert (await call(doc="not base64!")).error == "Invalid parameters: doc is not base64"
    form, multipart = api.seen
    assert (form.body, form.headers["content-type"]) == (
        b"a=x%20y&b=1&b=2",
        "application/x-www-form-urlencoded",
    )
    kind, _, boundary = multipart.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    assert multipart.body == (
        f'--{boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n--x\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="doc"; filename="a%22.txt"\r\n'
        "Content-Type: text/plain\r\n\r\n"
    ).encode() + f"\x00\u00ff\r\n--{boundary}--\r\n".encode("latin-1")


async def test_the_body_may_be_a_template(api: Api) -> None:
    body = {"query": {"city": "{{ city }}", "days": "{{ days }}"}, "note": "in {{ city }}"}
    mapping = {"lang": {"in": "query"}}
    async with http_tool(api.url, method="POST", body=body, params_mapping=mapping) as call:
        assert (await call(city="Rome", days=3, lang="it")).success
        assert (await call(city="Rome")).error_code == "missing_value"
    assert api.seen[0].json == {"query": {"city": "Rome", "days": 3}, "note": "in Rome"}
    assert api.seen[0].target == "/?lang=it"


async def test_a_text_may_be_the_body(api: Api) -> None:
    headers = {"Content-Type": "application/sql"}
    async with http_tool(
        api.url, method="POST", body="SELECT {{ n }}", body_format="text", headers=headers
    ) as call:
        assert (await call(n=1)).success
    assert (api.seen[0].body, api.seen[0].headers["content-type"]) == (b"SELECT 1", "application/sql")


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.text(max_size=30), min_size=10, max_size=20))
async def test_a_header_holds_one_line_or_the_call_is_refused(texts: list[str]) -> None:
    mapping = {"h": {"in": "header", "name": "X-Given"}}
    async with serving() as api, http_tool(api.url, params_mapping=mapping) as call:
        for text in [*texts, "a\r\nX-Evil: 1", "a\nb", "\x00", " é\t"]:
            result = await call(h=text)
            assert result.success or result.error_code == "invalid_parameters"
        assert all(set(seen.headers) <= KNOWN for seen in api.seen)


KNOWN = {"host", "accept", "accept-encoding", "user-agent", "x-given"}


async def test_trace_context_goes_on(api: Api, tmp_path: Path) -> None:
    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    (tmp_path / "c.yaml").write_text(config(api.url))
    async with running(load_config(tmp_path / "c.yaml")) as runtime:
        await runtime.execute("t", {}, Context(LOCAL, meta={"traceparent": trace}))
    assert api.seen[0].headers["traceparent"] == trace


async def test_replacing_a_mock_by_http_is_a_config_edit_and_nothing_else(api: Api, tmp_path: Path) -> None:
    answer = {"temperature": 22, "condition": "sunny"}
    api.reply = lambda _: data({"data": answer})
    tool = {
        "name": "get_weather",
        "description": "Get current weather for a location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string"},
                "units": {"enum": ["celsius"], "default": "celsius"},
            },
            "required": ["location"],
        },
    }
    mock = {"type": "mock", "mock_response": answer}
    http = {
        "type": "http",
        "url": f"{api.url}/data/2.5/weather",
        "method": "GET",
        "headers": {"Authorization": "Bearer ${WEATHER_API_KEY}"},
        "params_mapping": {"location": "q", "units": "units"},
        "response_path": "$.data",
        "timeout_ms": 5000,
        "retry": {"max_attempts": 3, "backoff_ms": 1000},
        "allow_private": ["127.0.0.1"],
    }
    outcomes: list[Any] = []
    for implementation in (mock, http):
        path = tmp_path / "toolspan.yaml"
        path.write_text(yaml.safe_dump({"tools": {"registry": [{**tool, "implementation": implementation}]}}))
        async with running(load_config(path, environ={"WEATHER_API_KEY": "k-123456"})) as runtime:
            (listed,) = runtime.registry
            good = await runtime.execute("get_weather", {"location": "Paris"}, LOCAL)
            bad = await runtime.execute("get_weather", {}, LOCAL)
        outcomes.append((listed.config.parameters, good.result, bad.error, bad.error_code))
    assert outcomes[0] == outcomes[1] and outcomes[0][1] == answer
    assert api.seen[0].query == [("q", "Paris")]  # what a caller leaves out, an API decides
    assert api.seen[0].headers["authorization"] == "Bearer k-123456"


@pytest.mark.parametrize(
    ("implementation", "problem"),
    [
        ({"url": "file:///etc/passwd"}, "only http and https"),
        ({"url": "https://me:pw@a.example/"}, "user name or password"),
        ({"url": "https:///x"}, "names no host"),
        ({"url": "https://b.example/", "allowed_domains": ["a.example"]}, "not in allowed_domains"),
        (
            {"url": "https://a.example.evil.org/", "allowed_domains": ["*.a.example"]},
            "not in allowed_domains",
        ),
        ({"url": "http://10.0.0.1/"}, "10.0.0.1 is private: list it in allow_private"),
        ({"url": "http://[::ffff:169.254.169.254]/"}, "link-local"),
        ({"url": "https://a.example/{id}"}, "no parameter of the tool fills {id}"),
        ({"params_mapping": {"b": "q"}}, "the tool has no parameter 'b' (known: a)"),
        ({"params_mapping": {"a": {"in": "body"}}}, "a GET request has no body"),
        ({"params_mapping": {"a": {"in": "header", "name": "Host"}}}, "is set by the server"),
        ({"params_mapping": {"a": {"in": "header", "name": "a b"}}}, "cannot be a header"),
        ({"params_mapping": {"a": {"inn": "query"}}}, "unknown key 'inn'"),
        ({"method": "POST", "body": {"x": "{{ b }}"}}, "the tool has no parameter 'b'"),
        ({"method": "POST", "body": {"x": "{{ b"}}, "template"),
        ({"headers": {"X": "a\nb"}}, "control character"),
        ({"headers": {"Host": "b"}}, "is set by the server"),
        ({"response_path": "$.a["}, "is no JSONPath"),
        ({"response_path": "$.a", "response_format": "text"}, "means nothing for response_format"),
        ({"status_hints": {"700": "x"}}, "700"),
        ({"retry": {"max_attempts": 99}}, "from 1 to 10"),
        ({"allowed_domains": ["https://a.example/"]}, "is no host"),
        ({"auth": {"type": "bearer", "token_env": "NOT_SET_ANYWHERE"}}, "NOT_SET_ANYWHERE is not set"),
    ],
)
def test_what_cannot_be_right_is_told_when_the_config_is_read(
    tmp_path: Path, implementation: dict[str, Any], problem: str
) -> None:
    described = {"url": "https://a.example/", "allow_private": [], **implementation}
    lines = told(tmp_path, config(**described))
    assert any(problem in line and line.startswith("config.yaml:") for line in lines), lines


def test_reading_a_config_imports_no_http_library(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "c.yaml").write_text(config("https://a.example/"))
    code = (
        "import sys; from toolspan_server.config import load_config; from toolspan_server import Registry\n"
        "Registry.from_config(load_config('c.yaml'))\n"
        "print([name for name in ('httpx2', 'httpcore2', 'jsonpath') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
