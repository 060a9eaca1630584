"""URI templates: what they match, what they make, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_server.engines.uri_templates import LONGEST_URI, UriTemplate, UriTemplateError

pytestmark = pytest.mark.requirement("I4.2.8", "I4.4.1")


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("test://template/{id}/data", "test://template/123/data", {"id": "123"}),
        ("test://template/{id}/data", "test://template/a%2Fb%20c/data", {"id": "a/b c"}),
        ("test://template/{id}/data", "test://template//data", None),
        ("test://template/{id}/data", "test://template/1/2/data", None),
        ("test://template/{id}/data", "test://template/1/data/", None),
        ("repo://{+path}", "repo://src/main.py", {"path": "src/main.py"}),
        ("map://{x,y}", "map://1024,768", {"x": "1024", "y": "768"}),
        (
            "db://{table}{?sort,limit}",
            "db://users?limit=5&sort=name",
            {"table": "users", "sort": "name", "limit": "5"},
        ),
        ("db://{table}{?sort,limit}", "db://users", {"table": "users", "sort": "", "limit": ""}),
        ("db://{table}{?sort,limit}", "db://users?colour=red", None),
        ("db://{table}{?sort,limit}", "db://users?sort=a&sort=b", None),
        ("db://{table}?fixed=1{&sort}", "db://users?fixed=1&sort=a", {"table": "users", "sort": "a"}),
        ("p://x{;a,b}", "p://x;b=2;a=1", {"a": "1", "b": "2"}),
        ("f://x{.kind}", "f://x.json", {"kind": "json"}),
        ("f://x{/a,b}", "f://x/1/2", {"a": "1", "b": "2"}),
        ("f://x{#part}", "f://x#a/b", {"part": "a/b"}),
        ("a.b://{id}", "a+b://1", None),
        ("t://{id}", "t://%FF", None),
        ("t://{id}", "t://\ud800", None),
        ("t://{id}", "t://" + "x" * LONGEST_URI, None),
    ],
)
def test_a_uri_gives_the_values_that_it_was_made_of(
    template: str, uri: str, values: dict[str, str] | None
) -> None:
    assert UriTemplate.parse(template).match(uri) == values


@given(st.dictionaries(st.sampled_from(["a", "b", "q", "r"]), st.text(min_size=1, max_size=20), min_size=4))
def test_what_a_template_makes_of_any_values_it_matches_again(values: dict[str, str]) -> None:
    template = UriTemplate.parse("any://{a}/x/{b}{?q,r}")
    assert template.match(template.expand(values)) == values


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("docs://all", "has no variable"),
        ("{id}", "does not start with a scheme"),
        ("t://{id", "a brace has no partner"),
        ("t://id}{x}", "a brace has no partner"),
        ("t://{id*}", "is of level 4"),
        ("t://{id:3}", "is of level 4"),
        ("t://{}", "names no variable"),
        ("t://{!id}", "names no variable"),
        ("t://{id}/{id}", "occurs twice"),
        ("t://a b/{id}", "no spaces"),
    ],
)
def test_what_is_no_template_is_refused_by_name(text: str, wrong: str) -> None:
    with pytest.raises(UriTemplateError, match=wrong):
        UriTemplate.parse(text)


def test_a_hostile_uri_is_refused_at_once() -> None:
    template = UriTemplate.parse("t://{+a}/{+b}/{+c}/{+d}/end")
    with at_most(units=250):
        assert template.match("t://" + "/" * 8_000) is None
