"""``${VAR}``: what it becomes, what it may not be, and that its value stays secret."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.configs import load, registry, told
from toolspan_server import ConfigError
from toolspan_server.config import Config, load_config
from toolspan_server.schema.interpolation import interpolate

pytestmark = pytest.mark.requirement("I4.4.1")

SECRET = "s3cr3t-value"


@pytest.mark.requirement("I2.2.3")
@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("${A}", "one"),
        ("<${A}-${B}>", "<one-two>"),
        ("${MISSING:-fallback}", "fallback"),
        ("${EMPTY:-fallback}", "fallback"),
        ("${A:-fallback}", "one"),
        ("${MISSING:-}x", "x"),
        ("${MISSING:-a:-b}", "a:-b"),
        ("$${A}", "${A}"),
        ("$${A", "${A"),
        ("$A $ $$ {A}", "$A $ $$ {A}"),
        ("$$${A}", "$${A}"),
        ("${env:A}", "one"),
    ],
)
def test_references_become_values(tmp_path: Path, written: str, becomes: str) -> None:
    config = load(tmp_path, f"instructions: '{written}'", environ={"A": "one", "B": "two", "EMPTY": ""})
    assert config.instructions == becomes


def test_a_value_is_not_read_for_references_again(tmp_path: Path) -> None:
    assert load(tmp_path, "instructions: ${A}", environ={"A": "${B} $${C}"}).instructions == "${B} $${C}"


@pytest.mark.requirement("I2.2.3")
@pytest.mark.parametrize(("environ", "state"), [({}, "not set"), ({"TOKEN": ""}, "empty")])
def test_a_missing_variable_is_named_with_its_place(
    tmp_path: Path, environ: dict[str, str], state: str
) -> None:
    text = (
        "mcpServers:\n  a:\n    url: https://a.example\n    headers:\n      Authorization: Bearer ${TOKEN}\n"
    )
    assert told(tmp_path, text, environ=environ) == [
        "config.yaml:5:22: $.mcpServers.a.headers.Authorization: "
        f"environment variable TOKEN is {state} (set TOKEN, or write ${{TOKEN:-default}})"
    ]


def test_every_missing_variable_of_a_string_is_named(tmp_path: Path) -> None:
    assert len(told(tmp_path, "instructions: ${A} and ${B}")) == 2


@pytest.mark.parametrize(
    "written", ["${}", "${1A}", "${A", "${input:token}", "${A:-${B}}", "${A B}", "${A-b}"]
)
def test_a_malformed_reference_is_refused_with_advice(tmp_path: Path, written: str) -> None:
    (line,) = told(tmp_path, f"instructions: '{written}'", environ={"A": "one", "B": "two"})
    assert (
        "names no variable (write ${NAME} or ${NAME:-default}, and $${ where a literal ${ is meant)" in line
    )


def test_keys_are_never_changed(tmp_path: Path) -> None:
    text = registry("a").replace("mock_response: 1", 'mock_response: {"${A}": 1}')
    implementation = load(tmp_path, text, environ={"A": "one"}).tools.registry[0].implementation
    assert implementation.model_dump()["mock_response"] == {"${A}": 1}


def test_the_process_environment_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIG_TEST_NAME", "from-the-process")
    (tmp_path / "c.yaml").write_text("name: ${CONFIG_TEST_NAME}")
    assert load_config(tmp_path / "c.yaml").name == "from-the-process"


def test_a_variable_may_spell_a_number_or_a_boolean(tmp_path: Path) -> None:
    text = "tools: {enabled: '${ON}', max_iterations: '${N}', default_timeout_ms: '${T:-2500}'}\n"
    text += "responses: [{temperature: '${HEAT}'}]"
    config = load(tmp_path, text, environ={"ON": "false", "N": "07", "HEAT": "0.5"})
    assert (config.tools.enabled, config.tools.max_iterations) == (False, 7)
    assert (config.tools.default_timeout_ms, config.responses[0].temperature) == (2500, 0.5)
    assert config.redact("false 07 2500 0.5") == "false 07 2500 0.5"


def test_a_number_from_a_variable_stays_text_where_text_is_wanted(tmp_path: Path) -> None:
    text = (
        registry("a").replace("mock_response: 1", "mock_response: ['${N}']")
        + "name: ${N}\nresponses: [{llm: '${N}'}]"
    )
    config = load(tmp_path, text, environ={"N": "12345"})
    assert (
        json.dumps(config.model_dump()["tools"]["registry"][0]["implementation"]["mock_response"])
        == '["12345"]'
    )
    assert type(config.name) is str and config.responses[0].llm == "12345"


@pytest.mark.requirement("I2.2.3")
@pytest.mark.parametrize(
    "text",
    [
        "version: ${S}",
        "tools: {max_iterations: '${S}'}",
        "tools: {enabled: 'x${S}'}",
        "tools: {registry: [{name: '${S}?', description: d, implementation: {type: mock}}]}",
        "tools: {registry: [{name: a, description: d, implementation: {type: '${S}'}}]}",
        "tools: {registry: [{name: a, description: d, implementation: {type: builtin, handler: '${S}'}}]}",
        "tools: {registry: [{name: a, description: d, implementation: '${S}'}]}",
        "tools: {registry: [{name: a, description: d, parameters: {type: '${S}'},"
        " implementation: {type: mock}}]}",
        "tools: {registry: [{name: a, description: d, parameters: {type: object, properties:"
        " {x: {pattern: '(${S}'}}}, implementation: {type: mock}}]}",
        "responses: [{match: {intent_regexp: '(${S}'}}]",
        "responses: [{tools: {allowed_tools: ['${S}']}}]",
        "mcpServers: {a: {url: 'ftp://${S}'}}",
        "mcpServers: {a: {url: 'https://x', headers: {A: \"${S}\\n\"}}}",
        "mcpServers: {a: {type: '${S}', command: b}}",
        "mcpServers: {a: {command: ['${S}']}}",
        "handlers: ['${S}']",
        "handlers: ['${S}.py']",
        "handlers: '${S}'",
    ],
)
@pytest.mark.parametrize("secret", [SECRET, 'quo"te\\back\nline', "123456789"])
def test_a_problem_shows_the_variable_and_not_its_value(tmp_path: Path, text: str, secret: str) -> None:
    lines = told(tmp_path, text, environ={"S": secret})
    for line in lines:
        assert secret not in line and repr(secret)[1:-1] not in line and json.dumps(secret)[1:-1] not in line


def test_a_problem_shows_the_reference_as_it_is_written(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "tools: {max_iterations: 'x${S:-y}'}", environ={"S": SECRET})
    assert line.endswith("must be an integer from 1 to 1000, not 'x${S:-y}'")


def secretive(folder: Path) -> Config:
    text = """\
name: ${NAME}
instructions: ${TEXT}
state_dir: ${DIR}
tools:
  registry:
    - name: a
      description: ${DESCRIPTION}
      parameters: {type: object, properties: {x: {description: '${SCHEMA}'}}}
      implementation: {type: mock, mock_response: {deep: ['${RESPONSE}']}}
mcpServers:
  a:
    command: run
    args: ['--key=${ARGUMENT}']
    env: {name: '${ENV}', SHORT: '${PIN}', D: '${UNSET:-default-text}'}
  b: {url: 'https://x/?k=${URL}', headers: {Authorization: 'Bearer ${HEADER}'}}
"""
    names = "NAME TEXT DIR DESCRIPTION SCHEMA RESPONSE ARGUMENT ENV URL HEADER"
    return load(
        folder, text, environ={"PIN": "abc", **{name: f"{name.lower()}-value" for name in names.split()}}
    )


@pytest.mark.requirement("I2.2.3")
def test_values_are_redacted_unless_their_place_is_served(tmp_path: Path) -> None:
    config = secretive(tmp_path)
    for hidden in ("dir", "argument", "env", "url", "header"):
        assert config.redact(f"a {hidden}-value b") == "a *** b"
    for served in ("name", "text", "description", "schema", "response"):
        assert config.redact(f"{served}-value") == f"{served}-value"


def test_defaults_and_very_short_values_are_not_redacted(tmp_path: Path) -> None:
    assert secretive(tmp_path).redact("default-text abc") == "default-text abc"


@pytest.mark.requirement("I2.2.3")
def test_the_config_shows_no_secret_when_printed(tmp_path: Path) -> None:
    config = secretive(tmp_path)
    for part in (config, config.mcp_servers["a"], config.mcp_servers["b"]):
        for text in (repr(part), str(part)):
            for hidden in ("argument", "env", "url", "header"):
                assert f"{hidden}-value" not in text
    assert "dir-value" not in repr(config) + str(config)


def test_redaction_takes_the_longest_value_and_escaped_forms(tmp_path: Path) -> None:
    text = "mcpServers: {a: {command: b, env: {A: '${A}', B: '${B}', C: '${C}'}}}"
    config = load(tmp_path, text, environ={"A": "secret", "B": "secret-and-more", "C": 'li"ne\nné'})
    assert config.redact("secret-and-more, secret") == "***, ***"
    assert config.redact(json.dumps({"x": 'li"ne\nné'})) == '{"x": "***"}'
    assert config.redact(repr('li"ne\nné')) == "'***'"


@pytest.mark.requirement("I9.3.29")
@given(
    value=st.text(st.characters(exclude_categories=["Cs"]), min_size=8),
    before=st.binary(max_size=40),
    after=st.binary(max_size=40),
    encode=st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]),
)
def test_no_base64_keeps_a_secret_wherever_it_begins(
    value: str, before: bytes, after: bytes, encode: Callable[[bytes], bytes]
) -> None:
    config = Config().with_origin(files=(), secrets=frozenset({value}), skipped=())
    secret = value.encode()
    blob = encode(before + secret + after).decode()
    redacted = base64.urlsafe_b64decode(config.redact(blob).replace("+", "-").replace("/", "_"))
    assert len(redacted) == len(before + secret + after)
    assert secret not in redacted or not secret.strip(b"\0")
    assert "***" in config.redact(f"Basic {blob}!")


@pytest.mark.requirement("I9.3.29")
def test_data_without_a_secret_stays_as_it_is() -> None:
    config = Config().with_origin(files=(), secrets=frozenset({"a-long-secret", "short"}), skipped=())
    data = base64.b64encode(random.Random(1).randbytes(300_000) + b"short" + b"a-long-secre").decode()
    assert config.redact_base64(data) == data


@given(value=st.text(st.characters(exclude_categories=["Cs"]), min_size=4), around=st.text(max_size=20))
def test_no_text_keeps_a_secret(value: str, around: str) -> None:
    config = Config().with_origin(files=(), secrets=frozenset({value}), skipped=())
    for text in (value, json.dumps(value), repr(value)):
        redacted = config.redact(around + text)
        assert value not in redacted or value in around + "***"


@given(
    data=st.recursive(
        st.text(alphabet="${}AB:-x", max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        max_leaves=6,
    )
)
def test_any_text_is_interpolated_or_told_why(data: object) -> None:
    before = json.dumps(data)
    outcome = interpolate(data, {"A": "one"})
    if "${" not in before:
        assert json.dumps(data) == before and not outcome.faults
    assert all(fault.message for fault in outcome.faults)


def test_a_file_with_a_missing_variable_never_loads(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(tmp_path, registry("a") + "name: ${NOPE}")
