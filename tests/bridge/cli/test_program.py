"""How the program is started and named, and how it ends when it is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.support.cli import toolspan, toolspan_process
from tests.support.waiting import BOUND_S
from toolspan_bridge.cli.main import toolspan as toolspan_group
from toolspan_bridge.cli.terminal import program

_BIN = Path(sys.executable).parent
_MODULE = str(Path(program.__file__).parents[2] / "__main__.py")
_INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["toolspan", "ask", "--help"]
from toolspan_bridge.__main__ import main
sys.exit(main())
"""


@pytest.mark.cold
@pytest.mark.requirement("I13.1.6")
@pytest.mark.parametrize(
    "module",
    ["toolspan_bridge.cli", "click", "toolspan_bridge.cli.terminal.output", "toolspan_bridge.cli.verbs.ask"],
)
def test_ctrl_c_while_help_is_loaded_ends_without_a_traceback(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_AT.format(module=module)],
        capture_output=True, text=True, timeout=BOUND_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.lstrip()) == (130, "interrupted\n")


@pytest.mark.requirement("I13.1.2")
@pytest.mark.parametrize("verb", toolspan_group.list_commands(click.Context(toolspan_group)))
def test_as_a_module_every_verb_names_itself_so_in_its_help(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [_MODULE])
    shown = toolspan(verb, "--help", cwd=tmp_path)
    assert shown.code == 0, shown.err
    assert f"python -P -m toolspan_bridge {verb}" in shown.out.splitlines()[0]


@pytest.mark.requirement("I13.1.2")
def test_a_wrong_option_says_how_to_get_help_by_the_way_that_it_was_started(tmp_path: Path) -> None:
    by_module = toolspan_process("check", "--nope", cwd=tmp_path)
    assert "Try 'python -P -m toolspan_bridge check --help'" in by_module.err
    by_name = subprocess.run(
        [str(_BIN / "toolspan"), "check", "--nope"],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert "Try 'toolspan check --help'" in by_name.stderr


@pytest.mark.cold
@pytest.mark.requirement("I24.1.1")
@pytest.mark.parametrize("module", ["toolspan_bridge", "toolspan_server", "toolspan_server.config"])
def test_started_as_a_module_it_imports_nothing_from_the_working_folder(module: str, tmp_path: Path) -> None:
    """Of those that Python itself looks for before any code of ours runs, only -P keeps it away."""
    for name in ("__future__", "typing", "json", "logging", "click", "yaml", "anyio", "toolspan_server"):
        if name != module.partition(".")[0]:
            (tmp_path / f"{name}.py").write_text("open('OWNED', 'w').close()\n")
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        cwd=tmp_path, capture_output=True, text=True, timeout=BOUND_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout, done.stderr
    assert not (tmp_path / "OWNED").exists()


@pytest.mark.requirement("I13.1.1")
def test_printed_commands_name_the_program_as_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "a b" / "bin" / "toolspan"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.chdir(tmp_path)
    assert program.command_line("chat", "--config", "x y") == "'a b/bin/toolspan' chat --config 'x y'"
    monkeypatch.chdir(script.parent)
    assert program.command_line() == f"'{script}'"
    monkeypatch.setenv("PATH", os.pathsep.join([str(script.parent), os.defpath]))
    assert program.command_line() == "toolspan"
    monkeypatch.setenv("UV", "/usr/bin/uv")  # whose PATH is not the shell's
    assert program.command_line() == f"'{script}'"
    monkeypatch.setattr(sys, "argv", [_MODULE])
    assert program.command_line("chat") == f"{sys.executable} -P -m toolspan_bridge chat"


@pytest.mark.requirement("I13.1.5")
@pytest.mark.parametrize("option", ["-c", "--config"])
def test_serve_takes_a_config_by_both_names_of_the_option(option: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("tools: {registry: []}")
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    for more in ([], ["--log-level", "error"]):
        served = toolspan_process("serve", option, "own.yaml", *more, cwd=tmp_path, stdin=ping)
        assert (served.code, '"result":{}' in served.out) == (0, True), served.err
