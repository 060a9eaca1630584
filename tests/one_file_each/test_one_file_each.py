"""A part of each sort is added to a copy of the tree by its own file, test and example, and nothing else.

``additions`` holds the files. In the copy, what is generated is generated anew, the tests that hold the whole
together are run, and so are the tests of the added parts, which use each of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.one_file_each.copied_tree import ADDITIONS, CopiedTree

PARTS = {
    "tool kind": "server/toolspan_server/tools/kinds/reverse.py",
    "builtin handler": "server/toolspan_server/tools/handlers/statistics.py",
    "executor step": "server/toolspan_server/tools/executor/steps/repeat.py",
    "config source": "server/toolspan_server/tools/sources/words.py",
    "service": "server/toolspan_server/tools/services/queues.py",
    "resource kind": "server/toolspan_server/resources/contents/letters.py",
    "CLI verb": "bridge/toolspan_bridge/cli/verbs/count.py",
    "provider row": "bridge/toolspan_bridge/providers/compatible/rows/example_cloud.py",
    "wire format": "bridge/toolspan_bridge/formats/relay/__init__.py",
}
CONSISTENCY = (
    "tests/test_exported_members.py",
    "tests/test_import_graph.py",
    "tests/test_requirements.py",
    "tests/docs/test_completeness.py",
    "tests/docs/test_example_kinds.py",
    "tests/docs/test_formats_page.py",
    "tests/docs/test_generated_pages.py",
    "tests/server/config/test_examples.py",
    "tests/server/test_imports.py",
    "tests/server/tools/executor/test_step_modules.py",
    "tests/server/tools/kinds/test_kinds.py",
    "tests/bridge/formats/test_contract.py",
    "tests/bridge/formats/test_conversation_properties.py",
    "tests/bridge/formats/test_real_tools.py",
    "tests/bridge/formats/shared/test_streams.py",
    "tests/bridge/providers/test_resolve.py",
    "tests/bridge/providers/compatible/test_compatible.py",
)
ROWS = ("reverse", "median", "repeat", "words", "queues", "letters", "example-cloud", "relay")


@pytest.mark.long
@pytest.mark.requirement("I10.2.5")
def test_one_part_of_each_sort_is_added_without_touching_another_file(tmp_path: Path) -> None:
    tree = CopiedTree.at(tmp_path / "tree")
    added = tree.add(ADDITIONS) | tree.add_format("relay", like="openai")
    assert set(PARTS.values()) <= added
    _imports_the_copy(tree)
    schema = tree.run("python", "-m", "toolspan_server.config")
    (tree.root / "configs" / "toolspan.schema.json").write_text(schema, "utf-8")
    tree.run("python", "-m", "scripts.docs")
    tree.run("python", "-m", "tests.support.real_tools")
    reference = (tree.root / "docs" / "reference" / "parts.md").read_text("utf-8")
    assert [name for name in ROWS if f"\n| `{name}` |" not in reference] == []
    assert "\n| [`count`](command-line.md#toolspan-count) | Count the characters of a text. |" in reference
    tests = [path for path in sorted(added) if Path(path).name.startswith("test_")]
    tree.run("pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *tests, *CONSISTENCY)
    tree.run("lint-imports", "--no-cache")
    tree.run("ruff", "check", "--no-cache", "server", "bridge")
    tree.run("mypy", "--no-incremental")
    assert tree.changed() == added


def _imports_the_copy(tree: CopiedTree) -> None:
    program = "import toolspan_server as s, toolspan_bridge as b; print(s.__file__, b.__file__)"
    files = tree.run("python", "-c", program).split()
    assert [Path(file).is_relative_to(tree.root) for file in files] == [True, True]
