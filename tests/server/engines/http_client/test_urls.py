"""No value of an argument leads out of its place in a URL."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolspan_server.engines.http_client._urls import UrlTemplate
from toolspan_server.errors import ToolFailure

pytestmark = pytest.mark.requirement("I4.2.3", "I4.4.1")

TEMPLATE = UrlTemplate.parse("https://api.example.com/v1/users/{id}/files/f-{name}.txt?lang={lang}")
hostile = st.text() | st.lists(
    st.sampled_from(["..", "/", "%2f", "%2e", "?", "#", "\r\n", "\\", ";", "a", "．", "%25", "@"]), max_size=8
).map("".join)


def expanded(**values: str) -> str:
    return TEMPLATE.expanded(values, iter(()))


@given(hostile, hostile, hostile)
@example("../admin", "a", "")
@example("..%2f..%2fadmin", "?x=1#y", "a&b=c")
@example("%252e%252e%252f", "a", "a")
@example("a\r\nHost: evil", "b", "c")
@example("．．／x", "b", "c")
@example("..;/x", "b", "c")
def test_a_value_stays_in_its_segment_or_is_refused(id: str, name: str, lang: str) -> None:
    try:
        url = expanded(id=id, name=name, lang=lang)
    except ToolFailure as failure:
        assert failure.error_code == "invalid_parameters"
        return
    assert url.isascii() and url.isprintable() and " " not in url
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "api.example.com", "")
    segments = parts.path.split("/")
    assert len(segments) == 6 and segments[:3] == ["", "v1", "users"] and segments[4] == "files"
    assert unquote(segments[3]) == id and unquote(segments[5]) == f"f-{name}.txt"
    assert parts.query.count("=") == 1 and unquote(parts.query) == f"lang={lang}"
    steps = unquote(unquote(parts.path)).replace("\\", "/").split("/")
    assert ".." not in steps


@pytest.mark.parametrize(
    "id", ["..", ".", "../x", "a/../b", "..\\x", "%2e%2e", "%2e%2e%2fx", "..;a/x", "", "．．", "%252e%252e/"]
)
def test_a_step_in_the_path_is_refused(id: str) -> None:
    with pytest.raises(ToolFailure, match=r"id (leads to another place|is empty)"):
        expanded(id=id, name="a", lang="a")


def test_dots_that_are_no_step_are_sent() -> None:
    assert "/users/1..2/files/f-...txt" in expanded(id="1..2", name="..", lang="a")


def test_a_value_that_is_missing_is_named() -> None:
    with pytest.raises(ToolFailure, match="lang is missing"):
        expanded(id="1", name="a")


def test_a_url_has_a_longest_length() -> None:
    with pytest.raises(ToolFailure, match="more than 16,384"):
        expanded(id="x" * 20_000, name="a", lang="a")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("gopher://a/b", "only http and https"),
        ("https://user:secret@example.com/", "user name or password"),
        ("https:///path", "names no host"),
        ("https://{host}/x", "placeholder in its host"),
        ("https://example.com:{port}/x", "not a URL|placeholder in its host"),
        ("https://example.com/{a", "brace without its partner"),
        ("https://example.com/a#b", "fragment"),
        ("https://example.com/a/../b", "relative step"),
        ("https://example.com/a b", "space"),
        ("https://exa_mple..com/", "no host that there can be"),
        ("https://[fe80::1%25eth0]/", "no host that there can be|not a URL"),
        ("example.com/x", "only http and https"),
        ("https://example.com:99999/", "not a URL"),
    ],
)
def test_what_is_no_url_to_call_is_refused(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        UrlTemplate.parse(url)
