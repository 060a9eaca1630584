"""What a server of a config says that it offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.configs import load, registry
from toolspan_server.config import offer

SOURCE = "  sources: [{type: openapi, file: api.yaml}]\n"
REST = """\
resources:
  - {uri: "a://b", name: b, text: c}
  - {uri: "a://c", name: c, text: d}
resource_templates: [{uri_template: "a://{x}/d", name: d, text: e}]
prompts: [{name: p, messages: [{text: hi}]}]
toolsets: {few: {tools: ["a*"]}, none: {tools: ["z*"]}}
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: nothing\n", "0 tools"),
        (registry("a"), "1 tool"),
        (registry("a", "b") + SOURCE, "2 tools, tools of 1 source"),
        ("tools:\n" + SOURCE, "tools of 1 source"),
        ("tools:\n  enabled: false\n" + SOURCE, "0 tools"),
        ("prompts: [{name: p, messages: [{text: hi}]}]\n", "1 prompt"),
        (registry("a") + REST, "1 tool, 2 resources, 1 resource template, 1 prompt, 2 toolsets"),
    ],
)
def test_an_offer_names_every_sort_that_is_there(tmp_path: Path, text: str, said: str) -> None:
    assert offer(load(tmp_path, text)) == said


def test_the_offer_of_a_toolset_counts_its_own_tools(tmp_path: Path) -> None:
    config = load(tmp_path, registry("a", "ab", "b") + REST)
    rest = "2 resources, 1 resource template, 1 prompt"
    assert offer(config, "few") == f"2 tools of toolset few, {rest}"
    assert offer(config, "none") == f"0 tools of toolset none, {rest}"
