"""Templates: filled in with plain data, with no code and within limits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.templates import (
    MissingValue,
    RenderFailure,
    Template,
    TemplateError,
    compiled,
    path_of,
    references,
)

pytestmark = pytest.mark.requirement("I4.2.2", "I4.4.1")

SCOPE: dict[str, Any] = {
    "city": "Oslo",
    "days": [{"high": 3, "low": -1.5}, {"high": 4}],
    "odd key": 1,
    "a-b": {"c d": True, "nothing": None},
}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ city }}", "Oslo"),
        ("In {{city}}: {{ days[0].high }}/{{ days[0].low }}", "In Oslo: 3/-1.5"),
        ("{{ days }}", SCOPE["days"]),
        ("{{ days[-1] }}", {"high": 4}),
        ('{{ a-b["c d"] }}', True),
        ("is {{ a-b['c d'] }}, {{ a-b.nothing }}", "is true, null"),
        ("as JSON {{ days }}", 'as JSON [{"high":3,"low":-1.5},{"high":4}]'),
        ("{{ days | json }}", '[{"high":3,"low":-1.5},{"high":4}]'),
        ("{{ city | upper }} {{ city | lower }}", "OSLO oslo"),
        ("{{ '  x ' | trim }}{{ days | length }}", "x2"),
        ('{{ "a/b ä" | urlencode }}', "a%2Fb%20%C3%A4"),
        ("{{ days[0] | join }}", None),
        ('{{ a-b.none | default("—") }}', "—"),
        ("{{ a-b.nothing | default(0) }}", 0),
        ("{{ nothing.at[3].all | upper | default('none') }}", "none"),
        ('{{ "{{" }} city }}', "{{ city }}"),
        ("}} { city } {%", "}} { city } {%"),
        ("", ""),
    ],
)
def test_a_template_gives_what_its_paths_lead_to(text: str, value: Any) -> None:
    template = Template.parse(text)
    if value is None:
        with pytest.raises(RenderFailure, match="takes a list"):
            template.render(SCOPE)
    else:
        assert template.render(SCOPE) == value
        assert type(template.render(SCOPE)) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a {{ city", r"'\{\{' is not closed by '\}\}', at character 3"),
        ("{{ }}", "the name of a value"),
        ("{{ city country }}", r"expected '\}\}', or '\|' and a filter, not 'country \}\}'"),
        ("{{ city | uper }}", r"unknown filter 'uper' \(did you mean 'upper'\?\), at character 11"),
        ("{{ city | default }}", "'default' needs a value"),
        ("{{ city | upper(1) }}", "'upper' takes no argument"),
        ("{{ city | join(1) }}", "'join' takes a text"),
        ("{{ days[one] }}", r"expected \[0\] or \[\"key\"\]"),
        ("{{ city() }}", "expected"),
        ("{{ city + 1 }}", "expected"),
        ('{{ "\\q" }}', "an escape that JSON does not know"),
        ("{{ city. }}", "expected a name after the dot"),
    ],
)
def test_a_text_that_is_no_template_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        Template.parse(text)


@pytest.mark.parametrize(
    "path", ["town", "city.name", "days[2]", "days.high", "days[0][0]", "a-b.none.at", 'city["upper"]']
)
def test_a_missing_value_is_named(path: str) -> None:
    with pytest.raises(MissingValue) as raised:
        Template.parse(f"x {{{{ {path} }}}}").render(SCOPE)
    assert raised.value.error_code == "missing_value"
    assert raised.value.error == f"'{path}' has no value here".replace('["upper"]', ".upper")


@pytest.mark.parametrize("path", ["city.__class__", "days.append", "city.upper", "a-b.keys", "days.__len__"])
def test_no_attribute_of_python_can_be_reached(path: str) -> None:
    with pytest.raises(MissingValue):
        Template.parse(f"{{{{ {path} }}}}").render(SCOPE)


def test_what_a_template_gives_is_bounded() -> None:
    template = compiled([f"{'{{ text }}' * 100}"] * 100)
    with pytest.raises(RenderFailure, match="more than 1,000,000 characters"):
        template.render({"text": "x" * 1_000}, limit=1_000_000)


def test_a_value_without_templates_is_itself() -> None:
    value = {"a": [1, "text", None], "b": {"c": "}}"}}
    tree = compiled(value)
    assert tree.static
    assert tree.render({}) is value


def test_every_text_of_a_value_is_a_template_and_no_key() -> None:
    tree = compiled({"{{ city }}": ["{{ days[0].high }}", {"deep": "to {{ city }}"}], "n": 1})
    assert tree.render(SCOPE) == {"{{ city }}": [3, {"deep": "to Oslo"}], "n": 1}
    assert compiled(["{{ days[0].high }}"], texts=True).render(SCOPE) == ["3"]


def test_a_fault_inside_a_value_has_its_path_and_uses_are_known() -> None:
    with pytest.raises(TemplateError) as raised:
        compiled({"a": [0, "{{ }}"]})
    assert raised.value.path == ("a", 1)
    assert references({"a": ["{{ x.y[0] }} {{ z | default(1) }}", "plain"]}) == {("x", "y", 0), ("z",)}
    assert path_of("answers.sure.action") == ("answers", "sure", "action")
    with pytest.raises(TemplateError, match="the end of the path"):
        path_of("a b")


@given(st.text(alphabet="{}ab.\"[]|()0 \\'", max_size=40))
def test_any_text_is_a_template_or_is_refused_within_itself(text: str) -> None:
    try:
        template = Template.parse(text)
    except TemplateError as error:
        assert 0 <= error.offset <= len(text)
        return
    if template.static:
        assert template.render({}) == text


@given(PLAIN, st.text().filter(lambda text: "{{" not in text and not text.endswith("{")))
def test_any_value_comes_out_as_it_went_in(value: Any, around: str) -> None:
    assert Template.parse("{{ x }}").render({"x": value}) is value
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if around:
        assert Template.parse(around + "{{ x }}").render({"x": value}) == around + shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ a" + " | json" * 60 + " }}", '"\\'),
        ("{{ a" + " | upper" * 20_000 + " | length }}", "x" * 100_000),
    ],
    ids=["growing", "repeated"],
)
def test_filters_do_not_work_without_end(text: str, value: str) -> None:
    with pytest.raises(RenderFailure, match="filters make more than"):
        Template.parse(text).render({"a": value})
