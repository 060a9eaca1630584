"""A tool for each operation of an API description, called through the kind ``http``."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.configs import told
from tests.support.cost import at_most
from tests.support.http_api import Api, response, serving
from tests.support.waiting import BOUND_S
from toolspan_server import Config, load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.engines.openapi import UnusableDescription
from toolspan_server.engines.openapi._description import Description
from toolspan_server.engines.openapi._schemas import Schemas
from toolspan_server.live.runtime import Runtime
from toolspan_server.tools.sources._openapi_tools import tools_of
from toolspan_server.tools.sources.openapi import Config as OpenApi

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.5", "I4.4.1")]


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


PET: Any = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "parent": {"$ref": "#/components/schemas/Pet"},
    },
}
SPEC: Any = {
    "openapi": "3.0.3",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "/v1"}],
    "components": {
        "schemas": {"Pet": PET},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
    "paths": {
        "/pets/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {
                "operationId": "get pet",
                "summary": "One pet",
                "description": "With all that is known of it.",
                "tags": ["pets"],
                "parameters": [
                    {"name": "filter[tag]", "in": "query", "schema": {"type": "array", "items": {}}},
                    {"name": "Accept", "in": "header", "schema": {}},
                    {"name": "id", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {},
            },
            "delete": {"tags": ["admin"], "deprecated": True, "responses": {}},
        },
        "/pets": {
            "post": {
                "operationId": "addPet",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                },
                "responses": {},
            }
        },
    },
}


def made(spec: Any, **config: Any) -> Any:
    return tools_of(
        json.dumps(spec).encode(),
        "spec.json",
        OpenApi.model_validate({"type": "openapi", "file": "x", **config}),
        base="",
    )


def spec_of(operation: Any, **root: Any) -> Any:
    """A description of one operation, ``POST /x``."""
    return {
        "openapi": "3.1.0",
        "servers": [{"url": "https://a.example"}],
        "paths": {"/x": {"post": operation}},
        **root,
    }


@asynccontextmanager
async def served(api: Api, folder: Path, spec: Any = SPEC, **config: Any) -> AsyncGenerator[Runtime]:
    path = folder / "spec.json"
    path.write_text(json.dumps(spec))
    source = {
        "type": "openapi",
        "file": str(path),
        "server": f"{api.url}/v1",
        "allow_private": ["127.0.0.1"],
        **config,
    }
    async with running(Config.model_validate({"tools": {"sources": [source]}})) as runtime:
        with anyio.fail_after(BOUND_S):
            await runtime.settled()
        yield runtime


async def test_operations_are_tools_that_call_the_api(api: Api, tmp_path: Path) -> None:
    async with served(api, tmp_path, prefix="pets_") as runtime:
        assert [tool.name for tool in runtime.registry] == [
            "pets_get_pet",
            "pets_delete_pets_id",
            "pets_addPet",
        ]
        assert (
            await runtime.execute("pets_get_pet", {"id": 7, "filter_tag": ["a", "b"], "id_2": "x"}, LOCAL)
        ).success
        assert (
            await runtime.execute("pets_addPet", {"name": "Rex", "parent": {"name": "Tex"}}, LOCAL)
        ).success
        assert not (await runtime.execute("pets_addPet", {"parent": {}}, LOCAL)).success
    get, post = api.seen
    assert get.target == "/v1/pets/7?filter%5Btag%5D=a&filter%5Btag%5D=b&id=x"
    assert (post.target, post.json) == ("/v1/pets", {"name": "Rex", "parent": {"name": "Tex"}})


async def test_what_the_description_says_is_what_the_tool_says(api: Api, tmp_path: Path) -> None:
    async with served(api, tmp_path) as runtime:
        hints = [tool.hints for tool in runtime.registry]
        get, delete, add = (tool.config for tool in runtime.registry)
    assert (get.description, get.title) == ("One pet\n\nWith all that is known of it.", "One pet")
    assert get.tags == ("pets",)
    assert hints[0] == {"read_only": True, "open_world": True} and hints[1]["destructive"]
    assert delete.description == "DELETE /pets/{id}" and delete.deprecated is not None
    assert add.parameters["required"] == ["name"] and "id" not in add.parameters["properties"]
    assert add.parameters["$defs"]["Pet"]["properties"]["parent"] == {"$ref": "#/$defs/Pet"}


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"include": {"tags": ["pets"]}}, ["get_pet"]),
        ({"include": {"paths": ["/pets"]}}, ["addPet"]),
        ({"include": {"paths": ["/pets/*"]}}, ["get_pet", "delete_pets_id"]),
        ({"include": {"paths": ["/**"]}, "exclude": {"methods": ["DELETE"]}}, ["get_pet", "addPet"]),
        ({"include": {"operations": ["add*"]}}, ["addPet"]),
        ({"include": {"methods": ["GET", "POST"]}, "exclude": {"tags": ["pets"]}}, ["addPet"]),
        (
            {"overrides": {"addPet": {"name": "new_pet"}, "DELETE /pets/{id}": {"name": "drop"}}},
            ["get_pet", "drop", "new_pet"],
        ),
    ],
)
def test_operations_are_chosen_and_renamed(config: Any, names: list[str]) -> None:
    assert [tool.name for tool in made(SPEC, server="https://a.example", **config).tools] == names


def test_an_override_replaces_the_description() -> None:
    told_ = {"addPet": {"description": "Adds a pet.", "timeout_ms": 500}}
    (tool,) = made(
        SPEC, server="https://a.example", include={"operations": ["addPet"]}, overrides=told_
    ).tools
    assert (tool.description, tool.timeout_ms) == ("Adds a pet.", 500)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"parameters": [{"$ref": "http://evil.example/p.json"}]}, "nothing is fetched"),
        ({"parameters": [{"$ref": "#/components/parameters/none"}]}, "leads nowhere"),
        ({"parameters": [{"$ref": "#/paths/~1x/post/parameters/0"}]}, "round in circles"),
        ({"parameters": [{"in": "query"}]}, "no name"),
        ({"parameters": [{"in": "path", "name": "y", "style": "matrix"}]}, "style 'matrix'"),
        ({"requestBody": {"content": {"application/octet-stream": {}}}}, "no body of the media types"),
        ({"security": [{"other": []}]}, "needs credentials for one of: other"),
        ({"servers": [{"url": "ftp://a.example"}]}, "only http and https"),
        ({"servers": [{"url": "http://169.254.169.254/"}]}, "link-local"),
    ],
)
def test_an_operation_that_cannot_be_a_tool_costs_only_itself(operation: Any, reason: str) -> None:
    spec = spec_of(operation)
    spec["paths"]["/good"] = {"get": {}}
    result = made(spec)
    assert [tool.name for tool in result.tools] == ["get_good"]
    (left_out,) = result.left_out
    assert left_out.startswith("POST /x: ") and reason in left_out


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"{", "spec.json:1"),
        (b"\xff\xfe", "UTF-8"),
        (b"[]", "no OpenAPI 3"),
        (b'{"swagger": "2.0"}', "no OpenAPI 3"),
        (b'{"openapi": "4.0.0"}', "no OpenAPI 3"),
        (b'{"openapi": "3.1.0", "x": ' + b"[" * 200 + b"]" * 200 + b"}", "64 levels"),
    ],
)
def test_what_is_no_description_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(UnusableDescription, match=reason):
        tools_of(content, "spec.json", OpenApi(file="x"))


def test_the_number_of_operations_is_limited_and_many_are_quick() -> None:
    paths = {
        f"/p{number}": {"get": {"parameters": SPEC["paths"]["/pets/{id}"]["parameters"]}}
        for number in range(1_001)
    }
    paths = {f"{path}/{{id}}": item for path, item in paths.items()}
    spec = {"openapi": "3.0.0", "servers": [{"url": "https://a.example"}], "paths": paths}
    with pytest.raises(UnusableDescription, match="1,001 operations are wanted"):
        made(spec)
    with at_most(units=500):
        assert len(made(spec, exclude={"paths": ["/p0/*"]}).tools) == 1_000


def test_names_are_unique_and_short() -> None:
    paths = {f"/{'x' * 90}/{letter}": {"get": {}} for letter in "ab"}
    paths |= {"/1": {"get": {"operationId": "Same!"}}, "/2": {"get": {"operationId": "same"}}}
    spec = {"openapi": "3.0.0", "servers": [{"url": "https://a.example"}], "paths": paths}
    names = [tool.name for tool in made(spec).tools]
    assert names[2:] == ["Same", "same_2"] and len({*names}) == 4 and max(map(len, names)) == 64


@pytest.mark.parametrize(
    ("schema", "converted"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"nullable": True, "oneOf": [{}]}, {"anyOf": [{"oneOf": [{}]}, {"type": "null"}]}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"example": 5, "xml": {}, "discriminator": {}, "x-a": 1}, {"examples": [5]}),
        ({"type": "string", "format": "binary"}, {"type": "string", "contentEncoding": "base64"}),
        ({"type": "object", "properties": {"example": {"type": "string"}}}, None),
        ({"required": True, "items": True}, {"items": True}),
    ],
)
def test_schemas_of_version_3_0_become_json_schema(schema: Any, converted: Any) -> None:
    assert Schemas(Description({}, legacy=True), "in").converted(schema) == (converted or schema)


@pytest.mark.parametrize(
    "schema", [{"allOf": [{"$ref": "#/components/schemas/A"}] * 3}, {"not": {"not": {}}}]
)
def test_hostile_schemas_are_bounded(schema: Any) -> None:
    deep: Any = {}
    for _ in range(40):
        deep = {"not": deep}
    components = {"schemas": {"A": {"anyOf": [{"$ref": "#/components/schemas/A"}, deep]}}}
    body = {"content": {"application/json": {"schema": {**schema, "properties": {"d": deep}}}}}
    result = made(spec_of({"requestBody": body}, components=components))
    assert result.tools == [] and "too large or nested too deep" in result.left_out[0]


def test_a_default_that_does_not_fit_costs_the_default_and_not_the_tool() -> None:
    parameters = [{"in": "query", "name": "n", "schema": {"type": "integer", "default": "ten"}}]
    (tool,) = made(spec_of({"parameters": parameters})).tools
    assert tool.parameters["properties"]["n"] == {"type": "integer"}


BODIES: Any = {
    "form": ("application/x-www-form-urlencoded", {"a": {"type": "string"}}, b"a=x"),
    "whole": ("application/json", None, b'["x"]'),
    "text": ("text/csv", None, b"x"),
}


@pytest.mark.parametrize("sort", BODIES)
async def test_bodies_of_every_sort_are_sent(api: Api, tmp_path: Path, sort: str) -> None:
    kind, properties, sent = BODIES[sort]
    plain = {"type": "array", "items": {"type": "string"}} if sort == "whole" else {"type": "string"}
    schema = plain if properties is None else {"type": "object", "properties": properties}
    spec = spec_of({"operationId": "op", "requestBody": {"content": {kind: {"schema": schema}}}})
    arguments: Any = {"form": {"a": "x"}, "whole": {"body": ["x"]}, "text": {"body": "x"}}[sort]
    async with served(api, tmp_path, spec) as runtime:
        assert (await runtime.execute("op", arguments, LOCAL)).success
    assert (api.seen[0].body, api.seen[0].headers["content-type"]) == (sent, kind)


async def test_a_file_is_uploaded_from_base64(api: Api, tmp_path: Path) -> None:
    properties = {"doc": {"type": "string", "format": "binary"}, "title": {"type": "string"}}
    content = {"multipart/form-data": {"schema": {"type": "object", "properties": properties}}}
    spec = spec_of({"operationId": "up", "requestBody": {"content": content}})
    async with served(api, tmp_path, spec) as runtime:
        assert (await runtime.execute("up", {"doc": "aGk=", "title": "T"}, LOCAL)).success
    assert b'filename="doc"' in api.seen[0].body and b"\r\n\r\nhi\r\n" in api.seen[0].body


SCHEMES: Any = {
    "key": {"type": "apiKey", "in": "query", "name": "k"},
    "user": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "Bearer"},
    "login": {"type": "openIdConnect", "openIdConnectUrl": "https://a.example"},
}


@pytest.mark.parametrize(
    ("scheme", "given", "expected"),
    [
        ("key", {"value": "s3cret"}, ("api_key", "query")),
        ("user", {"username": "u", "password": "p"}, ("basic", "header")),
        ("token", {"value": "s3cret"}, ("bearer", "header")),
        ("login", {"value": "s3cret"}, ("bearer", "header")),
    ],
)
def test_security_schemes_become_auth(scheme: str, given: Any, expected: Any) -> None:
    spec = spec_of({"security": [{"unknown": []}, {scheme: []}]}, components={"securitySchemes": SCHEMES})
    (tool,) = made(spec, credentials={scheme: given}).tools
    auth = tool.implementation.auth
    assert (auth.type, auth.place) == expected


def test_an_operation_that_needs_nobody_carries_no_credentials() -> None:
    components = {"securitySchemes": SCHEMES}
    spec = spec_of({"security": []}, components=components, security=[{"key": []}])
    (tool,) = made(spec, credentials={"key": {"value": "v"}}).tools
    assert tool.implementation.auth is None


def test_results_are_checked_only_where_that_is_asked_for() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "writeOnly": True}, "b": {}}}
    operation = {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}
    (tool,) = made(spec_of(operation)).tools
    assert tool.output_schema is None
    (tool,) = made(spec_of(operation), output_schema=True).tools
    assert tool.output_schema == {"type": "object", "properties": {"b": {}}}


def test_what_came_over_https_is_not_called_over_http() -> None:
    def left_out(**config: Any) -> list[str]:
        spec = spec_of({"responses": {}}, servers=[{"url": "HTTP://a.example/v1"}])
        source = OpenApi.model_validate({"type": "openapi", "url": "https://a.example/spec", **config})
        return tools_of(json.dumps(spec).encode(), "spec", source, base="https://a.example/spec").left_out

    for config in ({}, {"allowed_domains": ["a.example"]}):
        [reason] = left_out(**config)
        assert "the server is http, and the description came over https" in reason
    assert left_out(server="http://a.example/v1/") == []


async def test_a_description_is_fetched_with_the_same_care(api: Api) -> None:
    operation = {"get": {"operationId": "op", "responses": {}}}
    elsewhere = {"get": {"servers": [{"url": "https://evil.example"}]}}
    spec = {"openapi": "3.1.0", "servers": [{"url": "v2"}], "paths": {"/x": operation, "/y": elsewhere}}
    api.reply = lambda seen: response(json.dumps(spec)) if seen.path == "/docs/spec" else response("hi")
    source = {"type": "openapi", "url": f"{api.url}/docs/spec", "allow_private": ["127.0.0.1"]}
    async with running(Config.model_validate({"tools": {"sources": [source]}})) as runtime:
        with anyio.fail_after(BOUND_S):
            await runtime.settled()
        assert (await runtime.execute("op", None, LOCAL)).result == "hi"
        (state,) = runtime.health()["sources"]
    assert api.seen[-1].target == "/docs/v2/x"
    assert state["state"] == "ready" and "another host" in state["omitted"][0]


async def test_a_description_that_cannot_be_had_is_told_and_asked_for_again(api: Api) -> None:
    good = {**SPEC, "servers": [{"url": api.url}]}
    api.replies(response(status=404), response(json.dumps(good)))
    source = {"type": "openapi", "url": api.url, "allow_private": ["127.0.0.1"], "credentials": {}}
    config = Config.model_validate(
        {"tools": {"sources": [source]}, "limits": {"upstream_connect_seconds": 0.2}}
    )
    async with running(config) as runtime:
        with anyio.fail_after(BOUND_S):
            await runtime.settled()
            assert "HTTP 404" in runtime.health()["sources"][0]["error"]
            changed = anyio.Event()
            runtime.changes.subscribe(lambda _: changed.set())
            await changed.wait()
        assert len(runtime.registry) == 3


async def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    config = {"type": "openapi", "file": str(tmp_path / "none.json")}
    limits = {"upstream_connect_seconds": 0.2}
    async with running(Config.model_validate({"tools": {"sources": [config]}, "limits": limits})) as runtime:
        await runtime.settled()
        assert runtime.health()["sources"][0]["error"] == "there is no such file"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{type: openapi}", "neither a file nor a url"),
        ("{type: openapi, file: a, url: 'https://a.example/'}", "both a file and a url"),
        ("{type: openapi, url: 'file:///a'}", "only http and https"),
        ("{type: openapi, url: 'http://127.0.0.1/'}", "127.0.0.1 is loopback"),
        ("{type: openapi, file: a, include: {methods: [get]}}", "GET"),
        ("{type: openapi, file: a, credentials: {k: {value_env: NOT_SET_HERE}}}", "NOT_SET_HERE is not set"),
    ],
)
def test_a_source_that_cannot_be_right_is_told(tmp_path: Path, source: str, problem: str) -> None:
    lines = told(tmp_path, f"tools:\n  sources:\n    - {source}\n")
    assert any(problem in line for line in lines), lines


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1]", "{", "a: &a [x]\nb: *a\n", "swagger: '2.0'", pytest.param("[" * 99_999, id="deep")],
)
async def test_a_file_that_is_no_description_holds_up_no_list(tmp_path: Path, content: str) -> None:
    (tmp_path / "api.yaml").write_text(content)
    (tmp_path / "toolspan.yaml").write_text("tools: {sources: [{type: openapi, file: api.yaml}]}")
    async with running(load_config(tmp_path / "toolspan.yaml")) as runtime:
        with anyio.fail_after(BOUND_S):
            await runtime.settled()
        assert len(runtime.registry) == 0


@pytest.mark.requirement("I9.3.28")
@pytest.mark.parametrize(
    ("responses", "types", "may_be_empty"),
    [
        ({}, (), False),
        ({"200": {"description": "a user", "content": {"application/json": {}}}}, (), False),
        ({"200": {"description": "a page", "content": {"text/html; charset=utf-8": {}}}}, ("*",), False),
        ({"200": {"description": "done"}}, (), True),
    ],
)
def test_pages_and_empty_answers_are_results_where_they_are_described(
    responses: Any, types: tuple[str, ...], may_be_empty: bool
) -> None:
    (tool,) = made(spec_of({"responses": responses})).tools
    assert (tool.implementation.response_types, tool.implementation.allow_empty) == (types, may_be_empty)


@pytest.mark.requirement("I9.3.28")
@pytest.mark.parametrize(
    ("answer", "told_"),
    [
        (response("<html>Sign in</html>", Content_Type="text/html"), "HTTP 200 with text/html"),
        (response(), "HTTP 200 without a body"),
        (response("no", 503), "HTTP 503"),
    ],
)
async def test_a_fetched_description_that_is_none_says_what_came(api: Api, answer: bytes, told_: str) -> None:
    api.reply = lambda _: answer
    source = {"type": "openapi", "url": f"{api.url}/spec", "allow_private": ["127.0.0.1"]}
    config = Config.model_validate({"tools": {"sources": [{**source, "retry": {"max_attempts": 1}}]}})
    async with running(config) as runtime:
        with anyio.fail_after(BOUND_S):
            while "error" not in (state := runtime.health()["sources"][0]):  # noqa: ASYNC110  # no event tells
                await anyio.sleep(0.01)
    assert told_ in state["error"]


REFERRING: Any = {
    "/ok": {"get": {"operationId": "ok"}},
    "/ref": {"delete": {"$ref": "resources/delete.yml"}, "get": {"$ref": "#/components/x-ops/read"}},
    "/nowhere": {"put": {"$ref": "#/components/x-ops/none"}},
    "/round": {"post": {"$ref": "#/paths/~1round/post"}},
    "/null": {"patch": None},
    "/text": {"delete": "drop"},
    "/trace": {"trace": {"operationId": "t"}},
    "/path": {"$ref": "paths/path.yml"},
    "/list": ["get"],
    "/more": {"additionalOperations": {"COPY": {}}},
    "x-own": {"get": {}},
}
LEFT_OUT = {
    "DELETE /ref": "outside of the description",
    "PUT /nowhere": "leads nowhere",
    "POST /round": "go round in circles",
    "PATCH /null": "it is no object",
    "DELETE /text": "it is no object",
    "TRACE /trace": "the method TRACE is not supported",
    "/path": "outside of the description",
    "/list": "it is no object",
    "COPY /more": "the method COPY is not supported",
}


@pytest.mark.requirement("I26.1.3")
@pytest.mark.parametrize("config", [{}, {"include": {"operations": ["ok", "read"]}}], ids=["all", "some"])
def test_an_operation_that_cannot_be_read_is_left_out_by_name(config: Any) -> None:
    operations = {"read": {"operationId": "read", "parameters": [{"name": "q", "in": "query", "schema": {}}]}}
    spec = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://a.example"}],
        "components": {"x-ops": operations},
        "paths": REFERRING,
    }
    found = made(spec, **config)
    assert [(tool.name, list(tool.parameters["properties"])) for tool in found.tools] == [
        ("ok", []),
        ("read", ["q"]),
    ]
    told_ = dict(each.split(": ", 1) for each in found.left_out)
    assert told_.keys() == LEFT_OUT.keys()
    for place, why in LEFT_OUT.items():
        assert why in told_[place]


@pytest.mark.requirement("I26.2.3")
async def test_a_client_is_told_what_a_description_has_no_tool_for(tmp_path: Path) -> None:
    paths = {f"/p{number}": {"get": {"$ref": "elsewhere.yml"}} for number in range(30)}
    spec = {"openapi": "3.1.0", "servers": [{"url": "https://a.example"}]}
    (tmp_path / "spec.json").write_text(json.dumps({**spec, "paths": {**paths, "/ok": {"get": {}}}}))
    source = {"type": "openapi", "file": str(tmp_path / "spec.json")}
    async with running(Config.model_validate({"tools": {"sources": [source]}})) as runtime:
        await runtime.settled()
        (problem,) = runtime.source_problems()
        assert runtime.health()["sources"][0]["left_out"] == 30
    assert "leaves out 30 of 31: GET /p0: " in problem and "; and 25 more" in problem


@pytest.mark.requirement("I26.3.1")
def test_status_codes_need_no_quotes_however_many_there_are() -> None:
    lines = ["openapi: 3.0.3", "servers: [{url: 'https://a.example'}]", "paths:"]
    for number in range(400):
        lines += [f"  /p{number}:", "    get:", f"      operationId: op{number}", "      responses:"]
        lines += [f"        {status}: {{description: d}}" for status in (200, 404, 500)]
    found = tools_of(
        "\n".join(lines).encode(), "a.yaml", OpenApi.model_validate({"type": "openapi", "file": "x"})
    )
    assert len(found.tools) == 400 and not found.left_out
