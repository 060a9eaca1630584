"""Secrets are marked where their keys are declared, and no text of a config that is shown has one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolspan_server import load_config
from toolspan_server.common.secrets.key_shapes import SECRET_NAME
from toolspan_server.config import check_text
from toolspan_server.config.published_schema import config_schema
from toolspan_server.config.shown_text import places_left_open, shown_text

pytestmark = pytest.mark.requirement("I24.3.2")

EXAMPLES = sorted((Path(__file__).parents[3] / "configs").glob("*.yaml"))
CANARY = "CANARY-0123456789"
HARMLESS = {
    "LimitsConfig.headers": "a number",
    "IdentityProviderConfig.id_token_file": "the path of a file",
    "IdentityProviderConfig.idTokenFile": "the path of a file",
    "HttpAuth.password_env": "the name of a variable",
    "HttpAuth.client_secret_env": "the name of a variable",
    "HttpCredentials.password_env": "the name of a variable",
    "HttpCredentials.client_secret_env": "the name of a variable",
}
"""Keys that look as if they held a secret and hold none, each with the reason."""
_FREE_FORM = ("env", "headers", "args", "environment")
"""Keys that hold whatever is written there, which is often a secret."""


def _keys() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every key of every record of the config, as ``Record.key``, with its schema."""
    schema = config_schema()
    for name, definition in {"Config": schema, **schema["$defs"]}.items():
        for key, each in definition.get("properties", {}).items():
            yield f"{name}.{key}", each


def _holds_text(schema: Any) -> bool:
    """Whether a text stands there, or in a list or an object of texts; not of records."""
    if schema.get("type") in ("string",) and "enum" not in schema and "const" not in schema:
        return True
    parts = [*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")]
    parts += schema.get("patternProperties", {}).values()
    return any(isinstance(each, dict) and _holds_text(each) for each in parts)


def test_every_key_that_looks_like_a_secret_is_marked_or_is_known_to_be_harmless() -> None:
    doubtful = {
        place
        for place, schema in _keys()
        if (SECRET_NAME.search(place.partition(".")[2]) or place.partition(".")[2] in _FREE_FORM)
        and not schema.get("writeOnly")
        and _holds_text(schema)
    }
    assert doubtful == set(HARMLESS)


def _marked(schema: Any, definitions: Mapping[str, Any], deep: int = 0) -> Iterator[Any]:
    """Data of ``schema`` with the canary in every marked key, a key at a time."""
    if deep > 12:
        return
    if schema.get("writeOnly"):
        yield from (
            [CANARY],
            {"ANY": CANARY, "X-Any": CANARY},
            CANARY,
            f"https://me:{CANARY}@h/?key={CANARY}",
        )
        return
    if "$ref" in schema:
        yield from _marked(definitions[schema["$ref"].rpartition("/")[2]], definitions, deep + 1)
    for word in ("anyOf", "oneOf"):
        for each in schema.get(word, ()):
            yield from _marked(each, definitions, deep + 1)
    for key, each in schema.get("properties", {}).items():
        yield from ({key: value} for value in _marked(each, definitions, deep + 1))
    if isinstance(schema.get("items"), dict):
        yield from ([value] for value in _marked(schema["items"], definitions, deep + 1))
    named = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    for each in named:
        if isinstance(each, dict):
            yield from ({"any": value} for value in _marked(each, definitions, deep + 1))


def test_what_stands_under_a_marked_key_is_never_shown() -> None:
    schema = config_schema()
    found = list(_marked(schema, schema["$defs"]))
    assert len(found) > 100
    for data in found:
        for text, file in ((json.dumps(data), "c.json"), (yaml.safe_dump(data), "c.yaml")):
            assert CANARY not in shown_text(text, file), text


@pytest.mark.parametrize(
    "text",
    [
        "tools: {nobody_knows_this: CANARY}",
        "mcpServers: {x: {command: a, api_kye: CANARY}}",
        "nobody_knows_this: {deep: [CANARY]}",
        "tools: {registry: [{name: a, implementation: {type: builtin, options: {api_key: CANARY}}}]}",
        "auth: {tokens: [{name: a, token: '${SOME:-CANARY}'}]}",
        "name: ${SOME:-CANARY}",
        "auth:\n  tokens:\n    - name: a\n      token: |\n        CANARY\n        CANARY\n",
        "resources: [{uri: 'a:b', name: a, text: 'https://h/?x=1&api_key=CANARY'}]",
        "providers: {a: {base_url: 'https://h', headers: {X: !!str CANARY}}}",
        "auth: {tokens: [{name: a, token: 'CANARY\n\n  CANARY'}]}",
    ],
)
def test_what_the_schema_does_not_know_and_defaults_of_variables_are_not_shown(text: str) -> None:
    shown = shown_text(text, "toolspan.yaml")
    assert "CANARY" not in shown
    assert "***" in shown
    assert yaml.safe_load(shown).keys() == yaml.safe_load(text.replace("!!str ", "")).keys()


def test_the_rest_is_shown_as_it_is_written() -> None:
    text = (
        "# what it is for\nname: shop  # its name\n"
        "auth:\n  tokens:\n    - {name: ann, token: '${ANN_TOKEN}'}\n"
        "tools:\n  registry:\n    - name: a\n      description: 'It takes a token.'\n"
        "      parameters: {type: object, properties: {token: {type: string}}}\n"
        "      implementation: {type: mock, mock_response: 1}\n"
    )
    assert shown_text(text, "toolspan.yaml") == text


@pytest.mark.parametrize("name", ["read_only", "readOnlyHint", "read_only_hint"])
def test_a_key_is_known_by_every_name_that_the_config_takes_for_it(name: str) -> None:
    text = f"tools: {{registry: [{{name: a, annotations: {{{name}: true}}}}]}}\n"
    assert shown_text(text, "toolspan.yaml") == text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_all_faults_of_an_example_without_its_secrets_are_at_values_that_were_left_out(path: Path) -> None:
    text = shown_text(path.read_text(), str(path))
    faults = check_text(text, path, {})
    assert {(each.line, each.column) for each in faults} <= places_left_open(text, str(path))


def test_a_fault_beside_a_value_that_was_left_out_is_at_another_place() -> None:
    text = '{"mcpServers": {"x": {"url": "***"}, "y": {"url": "${HERE}", "disabled": 5}}}'
    found = check_text(text, Path("toolspan.json"), {"HERE": "nowhere"})
    kept = [e.path for e in found if (e.line, e.column) not in places_left_open(text, "toolspan.json")]
    assert [each.path for each in found] == ["$.mcpServers.x.url", "$.mcpServers.y.url", *kept]
    assert kept == ["$.mcpServers.y.disabled"]


def test_secrets_of_marked_keys_are_taken_out_of_every_text_wherever_they_came_from(tmp_path: Path) -> None:
    config = {
        "auth": {"tokens": [{"name": "ann", "token": "token-of-ann-0123456789"}]},
        "providers": {
            "own": {
                "base_url": "http://127.0.0.1:1/v1",
                "api_key": "${NOT_SET_ANYWHERE:-key-of-the-provider}",
                "headers": {"Authorization": "Bearer of-the-header", "Accept": "application/json"},
            }
        },
        "mcpServers": {"x": {"command": "x", "env": {"A_TOKEN": "of-the-variable", "LANG": "english"}}},
        "storage": {"url": "postgresql://me:of-the-database@host/db"},
    }
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps(config))
    loaded = load_config(path)
    secrets = re.findall(r"token-of-ann-\d+|key-of-the-provider|of-the-\w+", path.read_text())
    assert len(secrets) == 5
    for secret in secrets:
        assert loaded.redact(f"a {secret} b") == "a *** b"
    assert (
        loaded.redact("english application/json postgresql host")
        == "english application/json postgresql host"
    )
