"""Rewordings in the text of a config: comments and all else stay as they are."""

from __future__ import annotations

import json

import pytest
import yaml

from toolspan_bridge.validation.definitions_ab import Rewording
from toolspan_bridge.validation.definitions_ab.in_config import reworded_config

pytestmark = pytest.mark.requirement("I14.3.61")

CONFIG = """\
# the weather
tools:
  registry:
    - name: now   # of today
      description: >
        Tells of
        the weather

      parameters:
        type: object
        properties:
          city: {type: string}   # a name
          day:
            # in words
            type: string
          any: {}
      implementation: {type: mock, response: "now: description"}
    - {name: later, description: 'Tells', parameters: {}, implementation: {type: mock, response: x}}
    - name: told
      description: Asks ${PLACE:-home}
      parameters: {type: object}
      implementation: {type: mock, response: x}
"""


def put(tool: str, parameter: str, description: str, text: str = CONFIG) -> str | None:
    changed, taken = reworded_config(text, "a.yaml", [Rewording(tool, parameter, description, "why")])
    assert bool(taken) is (changed != text)
    return changed if taken else None


def test_a_block_of_text_is_replaced_and_the_comments_stay() -> None:
    changed = put("now", "", 'Says "now": today')
    assert changed == CONFIG.replace(
        ">\n        Tells of\n        the weather\n\n", '"Says \\"now\\": today"\n\n'
    )


@pytest.mark.parametrize(
    ("parameter", "old", "new"),
    [
        ("city", "{type: string}   # a name", '{description: "Where", type: string}   # a name'),
        ("day", "            type: string\n", '            description: "Where"\n            type: string\n'),
        ("any", "any: {}", 'any: {description: "Where"}'),
    ],
)
def test_a_parameter_without_a_description_gets_one(parameter: str, old: str, new: str) -> None:
    assert put("now", parameter, "Where") == CONFIG.replace(old, new)


def test_several_are_put_into_one_text() -> None:
    both = [Rewording("later", "", "Next days", ""), Rewording("now", "city", "Where", "")]
    changed, taken = reworded_config(CONFIG, "a.yaml", both)
    assert taken == both
    first, second, _ = yaml.safe_load(changed)["tools"]["registry"]
    assert (second["description"], first["parameters"]["properties"]["city"]) == (
        "Next days",
        {"description": "Where", "type": "string"},
    )
    assert changed.count("#") == CONFIG.count("#")


def test_json_stays_json() -> None:
    data = {"tools": {"registry": [{"name": "a", "parameters": {"properties": {"b": {"type": "string"}}}}]}}
    changed = put("a", "b", "Größe", json.dumps(data, indent=2))
    assert changed is not None
    [tool] = json.loads(changed)["tools"]["registry"]
    assert tool["parameters"]["properties"]["b"] == {"description": "Größe", "type": "string"}


def test_what_a_model_proposes_is_no_variable() -> None:
    changed = put("later", "", "The ${HOME} of all")
    assert changed is not None and "$${HOME} of all" in changed


@pytest.mark.parametrize(("tool", "parameter"), [("nobody", ""), ("now", "nothing"), ("told", "")])
def test_what_is_not_there_or_has_variables_is_left_out(tool: str, parameter: str) -> None:
    assert put(tool, parameter, "Where") is None
