"""Whatever comes back is read within limits and becomes a result, or a failure that says why."""

from __future__ import annotations

import gzip
import zlib
from base64 import b64decode
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.http_api import Api, data, http_tool, response, serving

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.3", "I4.4.1")]

LIMIT = 10_000


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (data({"a": [1, None]}), {"a": [1, None]}),
        (response("null", Content_Type="application/problem+json; charset=utf-8"), None),
        (response(status=204), None),
        (response("plain", Content_Type="text/plain"), "plain"),
        (response("Größe".encode("latin-1"), Content_Type="text/plain; charset=ISO-8859-1"), "Größe"),
        (response("Größe".encode("utf-16"), Content_Type="text/csv"), "Größe"),
        (response("Größe", Content_Type='text/plain; charset="x-unknown"'), "Größe"),
        (response("+AGE-", Content_Type="text/plain; charset=utf-7"), "+AGE-"),
        (response("6162", Content_Type="text/plain; charset=hex"), "6162"),
        (response("no type"), "no type"),
        (response("<a/>", Content_Type="application/atom+xml"), "<a/>"),
        (response(gzip.compress(b"packed", mtime=0), Content_Encoding="gzip"), "packed"),
        (response(zlib.compress(b"packed"), Content_Encoding="deflate"), "packed"),
        (response(zlib.compress(b"packed", wbits=-15), Content_Encoding="deflate"), "packed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc"),
    ],
)
async def test_an_answer_becomes_the_value_that_it_is(api: Api, answer: bytes, result: Any) -> None:
    api.reply = lambda _: answer
    async with http_tool(api.url) as call:
        given = await call()
    assert given.success, given.error
    assert given.result == result


@pytest.mark.parametrize(
    ("kind", "expected"), [("image/png", "image"), ("audio/wav", "audio"), ("application/pdf", "resource")]
)
async def test_pictures_sounds_and_files_become_content_blocks(api: Api, kind: str, expected: str) -> None:
    api.reply = lambda _: response(b"\x00\x01", Content_Type=kind)
    async with http_tool(f"{api.url}/file?key=1") as call:
        result = await call()
    assert result.content is not None
    block: Any = result.content[0]
    assert block["type"] == expected
    held = block["resource"] if expected == "resource" else block
    assert (b64decode(held.get("blob") or held["data"]), held["mimeType"]) == (b"\x00\x01", kind)
    assert expected != "resource" or held["uri"] == f"{api.url}/file"


BOMB = gzip.compress(b"0" * 50_000_000, mtime=0)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (response("x" * (LIMIT + 1)), "response_too_large"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "response_too_large"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"fff\r\n" + b"x" * 4095 + b"\r\n" * 1,
            None,
        ),
        (response(BOMB[:9_000], Content_Encoding="gzip"), "response_too_large"),
        (response(gzip.compress(b"cut off", mtime=0)[:-9], Content_Encoding="gzip"), "bad_response"),
        (response("not packed", Content_Encoding="gzip"), "bad_response"),
        (response("x", Content_Encoding="br"), "bad_response"),
        (response("x", Content_Encoding="gzip, gzip"), "bad_response"),
        (response("{", Content_Type="application/json"), "bad_response"),
        (response("NaN", Content_Type="application/json"), "bad_response"),
        (response("[" * 9_000, Content_Type="application/json"), "bad_response"),
        (response("9" * 9_000, Content_Type="application/json"), "bad_response"),
        (response("<html>down</html>", Content_Type="text/html"), None),
        (response("<html>down</html>", Content_Type="text/html"), "bad_response"),
        (response(Content_Type="application/json"), "bad_response"),
        (response(b"a\xffb", Content_Type="text/plain"), "bad_response"),
        (response(b'{"a": "\xff"}', Content_Type="application/json"), "bad_response"),
    ],
)
async def test_an_answer_that_is_no_good_is_a_failure(api: Api, answer: bytes, code: str | None) -> None:
    api.reply = lambda _: [answer, b""]
    settings: Any = {"max_response_bytes": LIMIT, "retry": {"max_attempts": 1}}
    async with http_tool(api.url, response_format="auto" if code else "json", **settings) as call:
        result = await call()
    assert not result.success
    assert result.error_code == (code or result.error_code) and "\n" not in result.error


async def test_an_endless_answer_ends_at_the_limit(api: Api) -> None:
    def endless() -> Any:
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        while True:
            yield b"1000\r\n" + b"x" * 4_096 + b"\r\n"

    api.reply = lambda _: endless()
    async with http_tool(api.url, max_response_bytes=1_000_000) as call:
        assert (await call()).error_code == "response_too_large"


async def test_a_failure_shows_the_start_of_what_came_back(api: Api) -> None:
    api.reply = lambda _: response("bad\n\tidea " + "x" * 9_000, 400, Content_Type="text/plain")
    async with http_tool(api.url, status_hints={"400": "Use ISO dates.", "4xx": "No."}) as call:
        result = await call()
    assert result.error.startswith("127.0.0.1 answered HTTP 400 Bad Request: bad idea xxx")
    assert len(result.error) < 600 and result.error.endswith("…")
    assert (result.error_code, result.user_action) == ("http_400", "Use ISO dates.")


async def test_a_hint_may_be_for_all_statuses_of_a_sort(api: Api) -> None:
    api.reply = lambda _: response(b"\x00", 502, Content_Type="image/png")
    async with http_tool(
        api.url, status_hints={"5xx": "Call the office."}, retry={"max_attempts": 1}
    ) as call:
        result = await call()
    assert (result.error, result.user_action) == (
        "127.0.0.1 answered HTTP 502 Bad Gateway",
        "Call the office.",
    )


async def test_a_response_path_takes_the_result_out_of_the_answer(api: Api) -> None:
    api.reply = lambda _: data({"rows": [{"n": 1}, {"n": 2}], "next": None})
    for path, wanted in (("$.rows[*].n", [1, 2]), ("$.rows[0]", {"n": 1}), ("$.next", None)):
        async with http_tool(api.url, response_path=path) as call:
            result = await call()
        assert result.success and result.result == wanted
    async with http_tool(api.url, response_path="$.nothing") as call:
        assert (await call()).error_code == "no_match"


async def test_a_large_answer_is_read_beside_other_work(api: Api) -> None:
    rows = [{"n": number, "text": "x" * 50} for number in range(20_000)]
    api.reply = lambda _: data(rows)
    async with http_tool(api.url, response_path="$[?@.n == 19999].n") as call:
        assert (await call()).result == [19999]


async def test_head_gives_status_and_headers(api: Api) -> None:
    api.reply = lambda _: response(Content_Length="0", X_Total="7")
    async with http_tool(api.url, method="HEAD") as call:
        assert (await call()).result == {"status": 200, "headers": {"content-length": "0", "x-total": "7"}}


PAGE = '<!DOCTYPE html><html><title>Sign in</title><script>a = "<b>"</script><body>Please sign in.</html>'


@pytest.mark.requirement("I9.3.28")
@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/xhtml+xml", "text/plain", ""])
async def test_a_page_for_people_is_no_result_and_the_failure_says_what_it_was(api: Api, kind: str) -> None:
    api.reply = lambda _: response(PAGE, **({"Content_Type": kind} if kind else {}))
    async with http_tool(api.url) as call:
        result = await call()
    assert (result.error_code, result.upstream_status) == ("bad_response", 200)
    shown = kind.partition(";")[0] or "no media type"
    assert f"127.0.0.1 answered HTTP 200 OK with {shown}, a page for people" in result.error
    assert "response_types" in result.error and result.as_dict()["upstream_status"] == 200
    if "ml" in kind:
        assert result.error.endswith(": Sign in Please sign in.")


@pytest.mark.requirement("I9.3.28")
async def test_a_redirect_to_a_page_to_sign_in_is_no_result(api: Api) -> None:
    api.replies(response(status=302, Location="/login"), response(PAGE, Content_Type="text/html"))
    async with http_tool(api.url) as call:
        assert (await call()).error_code == "bad_response"


@pytest.mark.requirement("I9.3.28")
async def test_a_page_that_comes_with_an_error_shows_its_words_its_type_and_the_status(api: Api) -> None:
    api.reply = lambda _: response(PAGE, 502, Content_Type="text/html")
    async with http_tool(api.url, retry={"max_attempts": 1}) as call:
        result = await call()
    told = "127.0.0.1 answered HTTP 502 Bad Gateway with text/html: Sign in Please sign in."
    assert (result.error, result.error_code, result.upstream_status) == (told, "http_502", 502)


@pytest.mark.requirement("I9.3.28")
@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        ({"response_types": ["text/*"]}, response(PAGE, Content_Type="text/html"), PAGE),
        ({"response_format": "text"}, response(PAGE, Content_Type="text/html"), PAGE),
        ({"response_types": ["*/json"]}, data([1]), [1]),
        ({"response_types": ["*/json"]}, response("a", Content_Type="text/csv"), "not */json"),
        ({"response_types": ["*/json"]}, response(status=204), None),
        ({}, response(), "HTTP 200 OK with an empty body"),
        ({"method": "POST"}, response(), None),
        ({"method": "POST", "response_format": "json"}, response(), "HTTP 200 OK with an empty body"),
        ({"method": "DELETE", "response_path": "$.a"}, response(), "HTTP 200 OK with an empty body"),
        ({"response_path": "$.a"}, response(status=204), None),
        ({"allow_empty": True}, response(), None),
        ({"response_format": "text"}, response(Content_Type="text/plain"), ""),
        ({}, response(b"\xff", Content_Type="text/plain"), "HTTP 200 OK with text/plain that is no utf-8"),
        ({"response_format": "text"}, response(b"\xff"), "set response_format: binary"),
        ({"success_status": ["2xx", "404"]}, data({"found": False}, 404), {"found": False}),
        ({"success_status": ["200"]}, data([1], 203), "HTTP 203"),
    ],
)
async def test_what_counts_as_a_result_is_told_in_the_config(
    api: Api, settings: dict[str, Any], answer: bytes, expected: Any
) -> None:
    api.reply = lambda _: answer
    async with http_tool(api.url, **settings) as call:
        result = await call()
    if result.success:
        assert result.result == expected
    else:
        assert expected and expected in result.error
        assert result.upstream_status is not None
