"""From a file's bytes to data: both syntaxes, their limits, and the place of everything."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.configs import load, problems, registry, told
from tests.support.cost import at_most
from toolspan_server import ConfigError
from toolspan_server.config import find_config, load_config
from toolspan_server.problems import Fault
from toolspan_server.schema.positions import parse_document

pytestmark = pytest.mark.requirement("I4.4.1")

TOOL = {"name": "a", "description": "b", "implementation": {"type": "mock", "mock_response": None}}


def answered(folder: Path, text: str, *, name: str = "config.yaml") -> Any:
    """The mock response of the only tool of ``text``."""
    implementation: Any = load(folder, text, name=name).tools.registry[0].implementation
    return implementation.mock_response


@pytest.mark.requirement("I2.2.1")
def test_yaml_and_json_of_the_same_config_are_equal(tmp_path: Path) -> None:
    data = {"version": 1, "name": "é😀", "tools": {"max_iterations": 3, "registry": [TOOL]}}
    from_json = load(tmp_path, json.dumps(data), name="a.json")
    from_yaml = load(tmp_path, yaml.safe_dump(data, allow_unicode=True), name="a.yaml")
    assert from_json.model_dump() == from_yaml.model_dump()
    assert from_json.name == "é😀"


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("12:30:00", "12:30:00"),
        ("2024-01-31", "2024-01-31"),
        ("yes", "yes"),
        ("off", "off"),
        ("1_000", "1_000"),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-3", -3),
        ("~", None),
        ("", None),
        ("True", True),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("<<", "<<"),
        ("=", "="),
    ],
)
def test_yaml_scalars_follow_the_core_schema(tmp_path: Path, scalar: str, value: Any) -> None:
    text = registry("a").replace(
        "{type: mock, mock_response: 1}", f"\n        type: mock\n        mock_response: {scalar}"
    )
    assert answered(tmp_path, text) == value
    assert type(answered(tmp_path, text)) is type(value)


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_bom_and_crlf_are_accepted(tmp_path: Path, name: str) -> None:
    text = json.dumps({"tools": {"registry": [TOOL]}}, indent=1).replace("\n", "\r\n")
    config = load(tmp_path, b"\xef\xbb\xbf" + text.encode(), name=name)
    assert [tool.name for tool in config.tools.registry] == ["a"]


def test_lines_and_columns_count_characters_after_bom_and_crlf(tmp_path: Path) -> None:
    (problem,) = problems(
        tmp_path, b"\xef\xbb\xbfname: a\r\ninstructions: '\xc3\xa9\xf0\x9f\x98\x80'\r\ntoolz: 1\r\n"
    )
    assert (problem.line, problem.column) == (3, 1)
    (problem,) = problems(tmp_path, '{"name": "é😀", "toolz": 1}', name="a.json")
    assert (problem.line, problem.column) == (1, 16)


@pytest.mark.requirement("I13.1.7")
@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.json", '{"tools": {"enabled": tru}}', "a.json:1:23: $: broken JSON: expecting value"),
        ("a.json", '{\n "tools": {} "name": "a"}', "a.json:2:14: $: broken JSON: expecting ',' delimiter"),
        ("a.json", "{} x", "a.json:1:4: $: broken JSON: extra data"),
        ("a.json", '{"a": "\n"}', "a.json:1:8: $: broken JSON: invalid control character at"),
        ("a.json", "tools: {}", "a.json:1:1: $: broken JSON: expecting value"),
        ("a.yaml", "tools: [1", "a.yaml:1:10: $: broken YAML: "),
        (
            "a.yaml",
            "name: a: b",
            "a.yaml:1:8: $: broken YAML: mapping values are not allowed in this context",
        ),
        (
            "a.yaml",
            "name: x\n\ttools: 1",
            "a.yaml:2:1: $: broken YAML: a tab in the indentation (indent with spaces)",
        ),
        ("a.yaml", "tools:\n  \tregistry: []", "a.yaml:2:3: $: broken YAML: a tab in the indentation"),
        ("a.yaml", "name: \x01", "a.yaml:1:7: $: broken YAML: control characters are not allowed"),
        ("a.yaml", "---\nname: a\n---\nname: b", "a.yaml:3:1: $: a second YAML document"),
    ],
)
def test_broken_text_is_told_its_line_and_column(tmp_path: Path, name: str, text: str, place: str) -> None:
    (line,) = told(tmp_path, text, name=name)
    assert line.startswith(place)


def test_a_file_of_another_ending_is_json_when_it_starts_with_a_brace(tmp_path: Path) -> None:
    assert load(tmp_path, '\n{"name": "a\\/b"}', name="config").name == "a/b"
    assert load(tmp_path, "name: c", name="config").name == "c"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "name: a\ntools: {}\nname: b\n"),
        ("a.json", '{"name": "a",\n"tools": {},\n"name": "b"}'),
    ],
)
def test_a_key_that_stands_twice_is_named_with_both_lines(tmp_path: Path, name: str, text: str) -> None:
    (line,) = told(tmp_path, text, name=name)
    assert line == f"{name}:3:1: $.name: key 'name' stands here twice, on lines 1 and 3 (keep one of them)"


def test_a_key_that_stands_twice_hides_no_other_problem(tmp_path: Path) -> None:
    assert [p.path for p in problems(tmp_path, "name: a\nname: b\ntoolz: 1")] == ["$.name", "$.toolz"]


@pytest.mark.parametrize("key", ["1", "true", "null", "1.5", "~"])
def test_a_key_that_is_no_string_is_refused(tmp_path: Path, key: str) -> None:
    text = registry("a").replace("mock_response: 1", f"mock_response: {{{key}: x}}")
    (line,) = told(tmp_path, text)
    assert f'key {key} is not a string (keys are strings: write "{key}")' in line


@pytest.mark.parametrize("text", ["? [a, b]\n: 1", "? {a: 1}\n: 1", "{[a]: 1}"])
def test_a_key_that_is_a_collection_is_refused(tmp_path: Path, text: str) -> None:
    (line,) = told(tmp_path, text)
    assert "a key that is not a string" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: &n a\ninstructions: *n", "config.yaml:1:7: $.name: anchor 'n' (write the value out"),
        ("tools: &t {}", "anchor 't'"),
        ("name: *n", "alias 'n'"),
        ("name: !!binary aGk=", "tag 'tag:yaml.org,2002:binary' is not known"),
        ("name: !env HOME", "tag '!env' is not known"),
        (
            "tools: !!python/object:os.system {}",
            "tag 'tag:yaml.org,2002:python/object:os.system' is not known",
        ),
    ],
)
def test_anchors_aliases_and_tags_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (line,) = told(tmp_path, text)
    assert said in line


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path: Path) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with at_most(units=100):
        assert "anchor 'a'" in told(tmp_path, bomb)[0]


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
@pytest.mark.parametrize("brackets", ["[" * 100_000, '{"a":' * 100_000, "[" * 65 + "]" * 65])
def test_deep_nesting_is_refused(tmp_path: Path, name: str, brackets: str) -> None:
    with at_most(units=300):
        (line,) = told(tmp_path, brackets, name=name)
        assert "nested more than 64 levels deep" in line


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_nesting_up_to_the_limit_is_read(tmp_path: Path, name: str) -> None:
    inside = 64 - 5
    nested = json.dumps({"tools": {"registry": [TOOL]}}).replace("null", "[" * inside + "]" * inside)
    assert isinstance(answered(tmp_path, nested, name=name), list)


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_an_integer_of_thousands_of_digits_is_refused(tmp_path: Path, name: str) -> None:
    (line,) = told(tmp_path, f'{{"limits": {{"result_bytes": {"9" * 5000}}}}}', name=name)
    assert ":1:29: $.limits.result_bytes: an integer of more than 4000 digits" in line


def test_a_lone_surrogate_is_refused_and_a_pair_is_a_character(tmp_path: Path) -> None:
    (line,) = told(tmp_path, r'{"name": "\ud800"}', name="a.json")
    assert line.startswith("a.json:1:10: $.name: a lone surrogate escape")
    assert load(tmp_path, r'{"name": "\ud83d\ude00"}', name="a.json").name == "😀"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ": the file is empty"),
        (b" \n\n", ": the file is empty"),
        (b"# only a comment\n", ": the file is empty"),
        (b"name: a\nname2: \xff", ":2:8: $: byte 0xff is not UTF-8 (save the file as UTF-8)"),
        ("name: a".encode("utf-16"), ": the file is UTF-16 (save it as UTF-8)"),
        (b"name: a\n\0", ":2:1: $: a NUL character (remove it)"),
        (b"#" * (4 * 1024 * 1024 + 1), ": the file is larger than 4 MiB"),
    ],
)
def test_unusable_content_is_told_why(tmp_path: Path, content: bytes, said: str) -> None:
    (line,) = told(tmp_path, content)
    assert line.startswith("config.yaml") and said in line


def test_a_path_that_cannot_be_read_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("name: a")
    (tmp_path / "secret.yaml").chmod(0)
    (tmp_path / "file").touch()
    cases = {
        "file/x.yaml": "the file cannot be read: not a directory",
        "none.yaml": "there is no such file",
        ".": "this is a directory",
        "a\0b": "this is not a path",
    }
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        cases["secret.yaml"] = "the file cannot be read: permission denied"
    for name, reason in cases.items():
        with pytest.raises(ConfigError) as caught:
            load_config(f"{tmp_path}/{name}")
        assert str(caught.value).startswith(f"{tmp_path}/{name}: {reason} (")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs in its file system")
def test_a_fifo_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match="this is not a regular file"):
        load_config(tmp_path / "pipe.yaml")


def test_the_default_files_are_found_in_their_order(tmp_path: Path) -> None:
    assert find_config(tmp_path) is None
    (tmp_path / "toolspan.json").touch()
    (tmp_path / "toolspan.yml").touch()
    assert find_config(tmp_path) == tmp_path / "toolspan.yml"


def test_no_file_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config file was given .*toolspan\.yaml"):
        load_config()


KEYS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def paths_in(value: Any, above: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [(above, value), *(found for key, inner in members for found in paths_in(inner, (*above, key)))]


@given(data=st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), indent=st.sampled_from([None, 0, 2]))
def test_json_is_read_as_the_standard_library_does_and_every_value_is_where_it_says(
    data: dict[str, Any], indent: int | None
) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    document = parse_document(text, "a.json")
    assert document.data == data
    lines = text.split("\n")
    for path, value in paths_in(data):
        problem = document.problem(Fault(path, "x"))
        rest = "\n".join([lines[problem.line - 1][problem.column - 1 :], *lines[problem.line :]])
        found, _ = json.JSONDecoder().raw_decode(rest)
        assert found == value
        if path and isinstance(path[-1], str):
            key = document.problem(Fault(path, "x", on_key=True))
            there = lines[key.line - 1][key.column - 1 :]
            assert there.startswith(json.dumps(path[-1], ensure_ascii=False))


def as_yaml(data: dict[str, Any]) -> tuple[str, dict[tuple[str | int, ...], tuple[int, int]]]:
    """Block YAML of ``data``, and the line and column of every key of a mapping in block style."""
    lines: list[str] = []
    places: dict[tuple[str | int, ...], tuple[int, int]] = {}

    def write(mapping: dict[str, Any], above: tuple[str | int, ...]) -> None:
        for key, value in mapping.items():
            indent = "  " * len(above)
            places[(*above, key)] = (len(lines) + 1, len(indent) + 1)
            start = indent + json.dumps(key, ensure_ascii=False) + ":"
            if isinstance(value, dict) and value:
                lines.append(start)
                write(value, (*above, key))
            else:
                lines.append(f"{start} {json.dumps(value, ensure_ascii=False)}")

    write(data, ())
    return "\n".join(lines), places


@given(data=st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_yaml_is_read_as_written_and_every_key_is_where_it_says(data: dict[str, Any]) -> None:
    text, places = as_yaml(data)
    document = parse_document(text, "a.yaml")
    assert document.data == data
    for path, place in places.items():
        problem = document.problem(Fault(path, "x", on_key=True))
        assert (problem.line, problem.column) == place


@given(text=st.text(max_size=60) | st.text(alphabet="{}[]:,\"'&*!|>-#%@`? \n\tab1.$\\", max_size=60))
@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_any_text_loads_or_raises_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        load_config(path, environ={})
    except ConfigError as error:
        assert all(str(problem).startswith(f"{path}:") for problem in error.problems)


@given(
    data=VALUES, key=st.sampled_from(["tools", "responses", "mcpServers", "services", "handlers", "limits"])
)
def test_any_data_under_a_known_key_loads_or_raises_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, key: str, data: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "data.json"
    shapes = [
        {key: data},
        {"tools": {"registry": [data, {"name": "a", "parameters": data, "implementation": data}]}},
    ]
    for shape in shapes:
        path.write_text(json.dumps(shape), "utf-8")
        try:
            load_config(path, environ={})
        except ConfigError as error:
            assert error.problems
