"""Several files as one config, handlers that a config imports, and the time that loading takes."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.configs import load, registry, told
from tests.support.cost import at_most
from toolspan_server import ConfigError
from toolspan_server.config import load_config

pytestmark = pytest.mark.requirement("I4.4.1")


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    return [folder / f"{name}.yaml" for name in texts]


def test_files_join_their_lists_and_named_entries(tmp_path: Path) -> None:
    first = (
        registry("a")
        + "mcpServers: {x: {command: one}}\nservices: {collections: {m: {path: p}}}\nresponses: [{llm: l}]"
    )
    second = (
        registry("b", "c")
        + "servers: {y: {command: two}}\nservices: {collections: {n: {path: q}}}\nresponses: [{llm: m}]"
    )
    config = load_config(*written(tmp_path, first=first, second=second), environ={})
    assert [tool.name for tool in config.tools.registry] == ["a", "b", "c"]
    assert {name: entry.command for name, entry in config.mcp_servers.items()} == {"x": "one", "y": "two"}
    assert config.services.collections is not None
    assert list(config.services.collections.root) == ["m", "n"]
    assert [rule.llm for rule in config.responses] == ["l", "m"]
    assert config.files == (tmp_path / "first.yaml", tmp_path / "second.yaml")


def test_the_first_file_that_sets_a_scalar_wins(tmp_path: Path) -> None:
    paths = written(
        tmp_path,
        first="tools: {max_iterations: 3}",
        second="name: second\ntools: {max_iterations: 4, default_timeout_ms: 5}",
        third="name: third\nlimits: {result_bytes: 2048}",
    )
    config = load_config(*paths, environ={})
    assert (config.name, config.tools.max_iterations, config.tools.default_timeout_ms) == ("second", 3, 5)
    assert config.limits.result_bytes == 2048


def test_relative_paths_start_at_the_first_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    paths = written(tmp_path / "sub", first="name: a") + written(tmp_path, second="state_dir: state")
    monkeypatch.chdir(tmp_path)
    config = load_config("sub/first.yaml", paths[1], environ={})
    assert config.directory == tmp_path / "sub"
    assert config.state_directory == tmp_path / "sub" / "state"


@pytest.mark.requirement("I2.2.2")
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (registry("a"), registry("b", "A"), "tool 'A' differs only by case from 'a' at {first}:3:13"),
        (registry("a"), registry("a"), "tool 'a' is already defined at {first}:3:13"),
        (
            "servers: {x: {command: c}}",
            "mcpServers: {x: {command: c}}",
            "MCP server 'x' is already defined at {first}:1:11",
        ),
        (
            "services: {collections: {m: {path: p}}}",
            "services: {collections: {m: {path: q}}}",
            "collection 'm' is already defined at {first}:1:26",
        ),
    ],
)
def test_a_name_in_two_files_is_refused_with_both_places(
    tmp_path: Path, first: str, second: str, said: str
) -> None:
    paths = written(tmp_path, first=first, second=second)
    with pytest.raises(ConfigError) as caught:
        load_config(*paths, environ={})
    (problem,) = caught.value.problems
    assert problem.file == str(paths[1]) and problem.message == said.format(first=paths[0])


def test_allowed_tools_may_name_another_files_tools(tmp_path: Path) -> None:
    paths = written(tmp_path, first=registry("a"), second="responses: [{tools: {allowed_tools: [a]}}]")
    assert load_config(*paths, environ={}).responses[0].tools is not None


@pytest.mark.requirement("I2.2.2")
def test_the_problems_of_all_files_come_together_in_order(tmp_path: Path) -> None:
    paths = written(tmp_path, one="b: 1\na: 1", two="tools: [", three="c: 1")
    with pytest.raises(ConfigError) as caught:
        load_config(*paths, tmp_path / "missing.yaml", environ={})
    places = [(Path(problem.file).stem, problem.line) for problem in caught.value.problems]
    assert places == [("one", 1), ("one", 2), ("two", 1), ("three", 1), ("missing", 0)]
    assert str(caught.value).count("\n") == 4


HANDLER = """\
from toolspan_server import handler

@handler("beside_the_config")
def beside(arguments, context):
    return arguments
"""


def test_handlers_beside_the_config_are_imported_before_tools_are_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HANDLER)
    text = registry("a").replace("type: mock, mock_response: 1", "type: builtin, handler: beside_the_config")
    config = load(tmp_path, text + "handlers: [mine.py]")
    assert config.tools.registry[0].implementation.type == "builtin"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no_such_module_here", "cannot be imported: ModuleNotFoundError: No module named"),
        ("none.py", "cannot be imported: FileNotFoundError: "),
        ("broken.py", "cannot be imported: SyntaxError: "),
        ("exits.py", "cannot be imported: SystemExit: 3"),
    ],
)
def test_handlers_that_cannot_be_imported_are_a_problem_at_their_place(
    tmp_path: Path, source: str, said: str
) -> None:
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")
    (line,) = told(tmp_path, f"handlers:\n  - json\n  - {source}")
    assert line.startswith(f"config.yaml:3:5: $.handlers[1]: the handlers of '{source}' {said}")
    assert line.endswith("(correct the name, or install or repair the module)")


def test_loading_takes_time_in_proportion_to_the_tools(tmp_path: Path) -> None:
    text = registry(*(f"tool-{i}" for i in range(1000)))
    load(tmp_path, registry("warm"))
    with at_most(units=300):
        assert len(load(tmp_path, text).tools.registry) == 1000


def test_a_thousand_faulty_tools_are_told_in_bounded_time(tmp_path: Path) -> None:
    with at_most(units=500):
        assert len(told(tmp_path, registry(*(f"bad name {i}" for i in range(1000))))) == 101


def test_importing_the_config_brings_in_nothing_heavy() -> None:
    import subprocess

    heavy = (
        "{'mcp', 'httpx2', 'starlette', 'uvicorn', 'simpleeval', 're2', 'sqlite3', 'pypdf', 'rich', 'jinja2'}"
    )
    code = f"import sys, toolspan_server.config; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_garbage_collector_runs_again_after_a_load_right_or_wrong(tmp_path: Path) -> None:
    for text in ("tools: {registry: []}", "tools: 3"):
        (tmp_path / "toolspan.yaml").write_text(text)
        with suppress(ConfigError):
            load_config(tmp_path / "toolspan.yaml")
        assert gc.isenabled()


def test_the_garbage_collector_stays_off_for_one_who_has_switched_it_off(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("tools: {registry: []}")
    gc.disable()
    try:
        load_config(tmp_path / "toolspan.yaml")
        assert not gc.isenabled()
    finally:
        gc.enable()
