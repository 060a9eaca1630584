"""Faults of ``resources``, ``resource_templates`` and ``prompts``, told with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.configs import load, told
from toolspan_server import ConfigError, load_config

pytestmark = pytest.mark.requirement("I4.2.8", "I4.4.1")


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            "{uri: a://b, name: n}",
            "$.resources[0]: has no content (give one of: text, blob, json, file, glob)",
        ),
        (
            "{uri: a://b, name: n, text: x, json: 1}",
            "$.resources[0].json: 'text' is there too (keep one of them)",
        ),
        ("{uri: a://b, text: x}", "$.resources[0]: 'name' is missing (add name)"),
        ("{uri: nothing, name: n, text: x}", "'nothing' does not match"),
        ("{uri: a://b, name: n, blob: '!'}", "$.resources[0].blob: is not Base64"),
        ("{uri: 'a://{b}', name: n, text: x}", "has no variables (move it to resource_templates)"),
        (
            "{uri: a://b, glob: '*.md'}",
            "$.resources[0].uri: 'a://b' does not distinguish the files of the glob",
        ),
        ("{uri: 'a:///{path}', glob: '*.md', name: n}", "the files of a glob would all have one name"),
        ("{uri: a://b, file: ../x}", "$.resources[0].file: '../x' is outside of the config's folder"),
        ("{uri: a://b, file: a/../../x}", "is outside of the config's folder"),
        ("{uri: a://b, file: /etc/passwd}", "or write outside: true beside it"),
        ("{uri: 'a:///{path}', glob: '../*.md'}", "$.resources[0].glob: '../*.md' is outside"),
        ("{uri: a://b, name: n, text: x, exclude: [y]}", "only a glob excludes files"),
        ("{uri: a://b, name: n, text: x, annotations: {priority: 2}}", "must be a number from 0 to 1, not 2"),
        ("{uri: a://b, name: n, text: x, annotations: {last_modified: now}}", "'now' is no time of ISO 8601"),
        ("{uri: a://b, name: n, text: x, mimetype: y}", "unknown key 'mimetype' (did you mean 'mime_type'?)"),
    ],
)
def test_what_is_wrong_with_a_resource_is_told(tmp_path: Path, entry: str, fault: str) -> None:
    assert any(fault in line for line in told(tmp_path, f"resources: [{entry}]"))


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("{uri_template: a://b, name: n, text: x}", ".uri_template: 'a://b' has no variable, such as {id}"),
        ("{uri_template: 'a://{b}', name: n}", "has no content (give one of: text, json, file)"),
        ("{uri_template: 'a://{id}', name: n, text: '{{ ib }}'}", ".text: unknown variable 'ib' (known: id)"),
        ("{uri_template: 'a://{id}', name: n, json: {x: ['{{ ib }}']}}", ".json.x[0]: unknown variable 'ib'"),
        ("{uri_template: 'a://{id}', name: n, text: '{{ id '}", ".text: '{{' is not closed by '}}'"),
        ("{uri_template: 'a://{id}', name: n, file: 'x/{ib}'}", ".file: unknown variable 'ib'"),
        ("{uri_template: 'a://{id}', name: n, file: 'x/{id'}", ".file: a brace has no partner"),
        ("{uri_template: 'a://{id}', name: n, file: '../{id}'}", ".file: '../{id}' is outside"),
        (
            "{uri_template: 'a://{id}', name: n, text: x, variables: {ib: {values: [a]}}}",
            "unknown variable 'ib'",
        ),
        (
            "{uri_template: 'a://{a}{b}', name: n, text: x, variables: {a: {values_by: {c: {}}}}}",
            ".variables.a.values_by.c: unknown argument 'c'",
        ),
    ],
)
def test_what_is_wrong_with_a_resource_template_is_told(tmp_path: Path, entry: str, fault: str) -> None:
    assert any(fault in line for line in told(tmp_path, f"resource_templates: [{entry}]"))


@pytest.mark.parametrize(
    ("inside", "fault"),
    [
        ("messages: [{text: '{{ x }}'}]", "$.prompts[0].messages[0].text: unknown argument 'x'"),
        ("messages: []", "$.prompts[0].messages: must not be empty"),
        ("messages: [{role: user}]", "$.prompts[0].messages[0]: is empty (give text or content)"),
        ("messages: [{role: system, text: x}]", "must be 'user' or 'assistant', not 'system'"),
        (
            "arguments: [{name: a}, {name: a}], messages: [{text: x}]",
            ".arguments[1].name: argument 'a' is already defined",
        ),
        (
            "arguments: [{name: a, values: [b], values_from: c}], messages: [{text: x}]",
            ".arguments[0].values_from: 'values' is there too",
        ),
        (
            "arguments: [{name: a, values_from: ../c}], messages: [{text: x}]",
            ".arguments[0].values_from: '../c' is outside of the config's folder",
        ),
        (
            "arguments: [{name: a, values_by: {a: {}}}], messages: [{text: x}]",
            ".arguments[0].values_by.a: unknown argument 'a'",
        ),
        (
            "messages: [{content: [{type: image, data: aaaa}]}]",
            ".messages[0].content[0]: 'mime_type' is missing (add mime_type: image/…)",
        ),
        ("messages: [{content: [{type: image}]}]", "a block of type image has either data or file"),
        ("messages: [{content: [{type: text, uri: x}]}]", "a block of type text has no 'uri'"),
        ("messages: [{content: [{type: resource_link, uri: x}]}]", ".content[0]: 'name' is missing"),
        ("messages: [{content: [{type: resource, resource: {uri: x}}]}]", ".resource: has no content"),
        (
            "messages: [{content: [{type: resource, resource: {uri: x, text: '{{ y }}'}}]}]",
            ".content[0].resource.text: unknown argument 'y'",
        ),
        ("steps: [{ask: {}}], messages: [{text: x}]", "$.prompts[0].steps[0].ask: has no question"),
        (
            "steps: [{log: {data: x}}], arguments: [{name: answers}], messages: [{text: x}]",
            "'answers' means something else where there are steps",
        ),
        ("messages: [{text: '{{ answers.x }}'}]", "unknown argument 'answers'"),
    ],
)
def test_what_is_wrong_with_a_prompt_is_told(tmp_path: Path, inside: str, fault: str) -> None:
    assert any(fault in line for line in told(tmp_path, f"prompts: [{{name: p, {inside}}}]"))


def test_what_is_there_twice_is_told_with_both_places_also_in_two_files(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    text = """\
resources:
  - {uri: "a://b", name: n, text: x}
resource_templates:
  - {uri_template: "a://{b}", name: n, text: x}
prompts:
  - {name: p, messages: [{text: x}]}
"""
    first.write_text(text)
    second.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(first, second)
    lines = [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    assert lines == [
        "b.yaml:2:11: $.resources[0].uri: resource 'a://b' is already defined at a.yaml:2:11 "
        "(keep one of them)",
        "b.yaml:4:20: $.resource_templates[0].uri_template: resource template 'a://{b}' is already "
        "defined at a.yaml:4:20 (keep one of them)",
        "b.yaml:6:12: $.prompts[0].name: prompt 'p' is already defined at a.yaml:6:12 (keep one of them)",
    ]


def test_the_lists_of_several_files_follow_each_other(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    for path, name in ((first, "one"), (second, "two")):
        path.write_text(
            f"resources: [{{uri: 'a://{name}', name: n, text: x}}]\n"
            f"prompts: [{{name: {name}, messages: [{{text: x}}]}}]\n"
        )
    config = load_config(first, second)
    assert [each.uri for each in config.resources] == ["a://one", "a://two"]
    assert [each.name for each in config.prompts] == ["one", "two"]


def test_what_is_allowed_outside_loads(tmp_path: Path) -> None:
    config = load(tmp_path, "resources: [{uri: a://b, file: /etc/hosts, outside: true}]")
    assert config.resources[0].file == "/etc/hosts"
