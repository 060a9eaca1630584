"""``ask --schema FILE``: the value on stdout, an exit code of its own when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.cli import toolspan

pytestmark = pytest.mark.requirement("I11.3.4")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    return tmp_path


def ask(
    folder: Path, *texts: str, schema: str = "schema.json", more: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    (folder / "script.yaml").write_text(yaml.safe_dump({"turns": [{"text": text} for text in texts]}))
    ran = toolspan("ask", "How many?", "-m", "scripted/script.yaml", "--schema", schema, *more, cwd=folder)
    return ran.code, ran.out, ran.err


def test_the_value_alone_is_printed_and_in_the_json(folder: Path) -> None:
    code, out, err = ask(folder, "I think 42.", '```json\n{"n": 42}\n```')
    assert (code, json.loads(out)) == (0, {"n": 42})
    assert "asked for once more" in err
    code, out, _ = ask(folder, '{"n": 42}', more=("--json",))
    assert (code, json.loads(out)["value"]) == (0, {"n": 42})


def test_what_does_not_fit_twice_ends_with_8(folder: Path) -> None:
    code, out, err = ask(folder, '{"n": "42"}', '{"n": "43"}')
    assert (code, out) == (8, '{"n": "43"}\n')
    assert "does not fit its schema: 'n' must be an integer" in err
    code, out, _ = ask(folder, "a", "b", more=("--json",))
    assert (code, json.loads(out)["stop"]) == (8, "schema")


def test_a_file_that_holds_no_schema_is_refused(folder: Path) -> None:
    assert ask(folder, "a", schema="gone.json")[0] == 2
    (folder / "list.json").write_text("[]")
    assert "must be a JSON object" in ask(folder, "a", schema="list.json")[2]
    (folder / "odd.json").write_text('{"type": "nothing"}')
    code, _, err = ask(folder, "a", schema="odd.json")
    assert code == 2 and "no JSON Schema" in err
