"""Handlers from everywhere: ours, a decorated function, a file of a config, a third party's package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.support.executors import builtin, executor_of
from tests.support.waiting import BOUND_S
from toolspan_server import Context, handler
from toolspan_server.calls.caller import LOCAL
from toolspan_server.engines.registration import find_handler, handler_names, load_handler_source

pytestmark = pytest.mark.anyio

MEDIAN = """
from toolspan_server import handler

@handler("median")
def median(arguments, context):
    return sorted(arguments["numbers"])[len(arguments["numbers"]) // 2]
"""


@handler("registration.double")
def double(arguments: dict[str, Any], context: Context) -> float:
    return 2 * float(arguments["number"])


@pytest.mark.requirement("I2.4.4")
async def test_a_decorated_function_is_called() -> None:
    executor = executor_of(builtin("registration.double"))
    assert (await executor.execute("registration.double", {"number": 4}, LOCAL)).result == 8.0


def test_the_decorator_gives_the_function_back() -> None:
    assert double({"number": 1}, Context(LOCAL)) == 2
    assert find_handler("builtin", "registration.double") is double


@pytest.mark.requirement("I2.4.4")
def test_our_own_handlers_are_registered_as_anybody_elses() -> None:
    names = set(handler_names("builtin", wanted="echo"))
    assert {"echo", "math_eval", "datetime_now", "datetime_parse", "string_case", "string_uuid"} <= names


@pytest.mark.requirement("I10.2.1")
def test_a_handler_may_be_in_a_module_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "statistics.py").write_text(MEDIAN)
    program = f"""
import sys
import toolspan_server.tools.handlers as ours

ours.__path__.append({str(tmp_path)!r})
from toolspan_server.engines.registration import find_handler, handler_problem

print(handler_problem("builtin", "median"))
print(find_handler("builtin", "median")({{"numbers": [3, 1, 2]}}, None))
"""
    assert run(program).split("\n") == ["None", "2"]


@pytest.mark.requirement("I10.2.1", "I3.3.3")
@pytest.mark.parametrize(
    ("name", "imported"),
    [("string_case", ["strings"]), ("rag_query", ["rag_query"]), ("mine", [])],
)
def test_only_the_module_that_registers_a_handler_is_imported(name: str, imported: list[str]) -> None:
    program = f"""
import sys
from toolspan_server.engines.registration import find_handler

find_handler("builtin", {name!r})
package = "toolspan_server.tools.handlers."
names = [module.removeprefix(package) for module in sys.modules if module.startswith(package)]
print(sorted(name for name in names if not name.startswith("_")))
"""
    assert run(program) == str(imported)


@pytest.mark.requirement("I10.2.1")
@pytest.mark.parametrize(
    "text",
    [
        "from toolspan_server import handler\nhandler('me' + 'an')(max)\n",
        "from toolspan_server import handler as register\nregister('mean')(max)\n",
    ],
)
def test_a_handler_whose_name_its_modules_text_does_not_show_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "averages.py").write_text(text)
    program = f"""
import toolspan_server.tools.handlers as ours

ours.__path__.append({str(tmp_path)!r})
from toolspan_server.engines.registration import find_handler

print(find_handler("builtin", "mean"))
"""
    assert run(program) == "<built-in function max>"


def test_a_name_is_registered_once_in_each_kind() -> None:
    def other(arguments: dict[str, Any], context: Context) -> None: ...

    with pytest.raises(
        ValueError, match=r"'echo' is already registered by toolspan_server\.tools\.handlers\.echo"
    ):
        handler("echo")(other)
    handler("registration.double", kind="internal")(other)
    assert find_handler("internal", "registration.double") is other
    assert find_handler("builtin", "registration.double") is double
    assert handler("registration.double", kind="internal")(other) is other


def test_a_name_of_ours_is_refused_in_a_process_that_has_not_used_it_yet() -> None:
    program = """
from toolspan_server import handler

try:
    handler("echo")(print)
except ValueError as error:
    print(error)
"""
    assert "already registered by toolspan_server.tools.handlers.echo.echo" in run(program)


@pytest.mark.requirement("I2.4.4")
def test_a_file_beside_the_config_registers_its_handlers(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        dedent(
            """
            from toolspan_server import handler

            @handler("registration.from_file")
            def shout(arguments, context):
                return arguments["text"].upper()
            """
        )
    )
    load_handler_source("mine.py", tmp_path)
    load_handler_source("./mine.py", tmp_path)
    found = find_handler("builtin", "registration.from_file")
    assert found is not None
    assert found({"text": "hi"}, Context(LOCAL)) == "HI"


@pytest.mark.parametrize("source", ["absent.py", "no.such.module", "broken.py"])
def test_a_source_that_cannot_be_imported_raises_and_leaves_nothing_behind(
    source: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module")
    before = set(sys.modules)
    for _ in range(2):
        with pytest.raises((ImportError, OSError)):
            load_handler_source(source, tmp_path)
    assert not [name for name in set(sys.modules) - before if "broken" in name]


@pytest.mark.requirement("I2.4.4")
def test_an_installed_package_brings_handlers_by_entry_point(tmp_path: Path) -> None:
    install(
        tmp_path,
        "third_party",
        """
        from toolspan_server import handler

        @handler("third_party_greet")
        def greet(arguments, context):
            return {"greeting": f"Hello {arguments['name']}", "tool": context.tool_name}

        async def plain(arguments, context):
            return "registered by the entry point alone"
        """,
        {"third_party_greet": "third_party", "third_party_plain": "third_party:plain"},
    )
    config = {
        "tools": {
            "registry": [
                builtin("greet", "third_party_greet"),
                builtin("plain", "third_party_plain"),
            ]
        }
    }
    (tmp_path / "toolspan.json").write_text(json.dumps(config))
    program = """
import anyio
from toolspan_server import LOCAL, load_config, running

async def main():
    async with running(load_config("toolspan.json")) as executor:
        print((await executor.execute("greet", {"name": "Ada"}, LOCAL)).result)
        print((await executor.execute("plain", None, LOCAL)).result)

anyio.run(main)
"""
    assert run(program, tmp_path).splitlines() == [
        "{'greeting': 'Hello Ada', 'tool': 'greet'}",
        "registered by the entry point alone",
    ]


@pytest.mark.requirement("I2.8.4")
def test_a_package_that_cannot_be_imported_is_a_problem_in_words(tmp_path: Path) -> None:
    install(tmp_path, "broken_party", "import no_such_module", {"broken_party_tool": "broken_party"})
    program = """
from toolspan_server.engines.registration import handler_problem

print(handler_problem("builtin", "broken_party_tool"))
"""
    assert run(program, tmp_path).strip() == (
        "Builtin handler 'broken_party_tool' cannot be loaded "
        "(ModuleNotFoundError: No module named 'no_such_module')"
    )


def install(folder: Path, package: str, source: str, entry_points: dict[str, str]) -> None:
    """What installing a package leaves on the path: its module and its metadata."""
    (folder / f"{package}.py").write_text(dedent(source))
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    points = "".join(f"{name} = {target}\n" for name, target in entry_points.items())
    (metadata / "entry_points.txt").write_text(f"[toolspan.handlers]\n{points}")


def run(program: str, folder: Path | None = None) -> str:
    """What ``program`` prints in a process of its own that finds packages in ``folder``."""
    path = "" if folder is None else f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    ended = subprocess.run(
        [sys.executable, "-c", path + program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.rstrip("\n")
