"""``toolspan completion``: what a shell completes, in real shells."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from tests.support.cli import toolspan
from tests.support.waiting import BOUND_S
from toolspan_bridge.cli.main import toolspan as group
from toolspan_bridge.presets import PresetStore
from toolspan_bridge.principals import LOCAL_USER

CONFIG = """
responses:
  - match: {intent_regexp: news}
    llm: openai
    model: gpt-5.5
  - match: {intent_regexp: code}
    llm: ollama
    model: qwen3:8b
  - match: {intent_regexp: small}
    llm: ollama
    model: qwen3:4b
mcpServers:
  files: {command: this-server-is-never-started}
tools:
  registry:
    - name: calculate
      description: Evaluate a mathematical expression
      implementation: {type: mock, mock_response: {result: 84}}
"""
LOCK: dict[str, Any] = {
    "toolspan_lock": 1,
    "servers": {"files": {"copy_file": {"annotations": {}, "description": ["Copy"], "schema": {}}}},
}
SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "toolspan.lock").write_text(json.dumps(LOCK))
    return tmp_path


def completed(folder: Path, *words: str) -> list[str]:
    """What the program itself gives a shell for the last of ``words``."""
    shell = ShellComplete(group, {}, "toolspan", "_TOOLSPAN_COMPLETE")
    with chdir(folder):
        return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.requirement("I13.5.1")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["conv"], ["conversations"]),
        (["tools", "ca"], ["call"]),
        (["ask", "--appro"], ["--approval", "--approve"]),
        (["tools", "call", "c"], ["calculate", "copy_file"]),
        (["ask", "--model", "openai/"], ["openai/gpt-5.5", "openai/"]),
        (["ask", "--reasoning", "l"], ["low"]),
        (["servers", "login", "f"], ["files"]),
        (["serve", "--tran"], ["--transport"]),
        (["ask", "--file", "no"], ["no"]),
    ],
)
def test_verbs_options_and_names_are_completed_and_no_server_is_started(
    words: list[str], found: list[str], shop: Path
) -> None:
    assert completed(shop, *words) == found


@pytest.mark.requirement("I13.5.1")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_of_the_shell(shell: str, tmp_path: Path) -> None:
    ran = toolspan("completion", shell, cwd=tmp_path)
    assert ran.code == 0 and "_TOOLSPAN_COMPLETE" in ran.out
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=ran.out, text=True, capture_output=True, check=False)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.long
@pytest.mark.requirement("I13.5.1")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "word", "found"),
    [
        ("toolspan tools call ca", "ca", ["calculate"]),
        ("toolspan tools call calculate --c", "--c", ["--config"]),
        ("toolspan ask --preset My", "My", [r"My\ \*", "Mystery"]),
        ("toolspan ask --preset 'My", "'My", ["My *", "Mystery"]),
        ("toolspan ask --preset 'My ", "'My ", ["My *"]),
        ("toolspan ask -m ollama/qwen3:", ":", ["8b", "4b"]),
        ("toolspan ask -m ollama/qwen3:8", "8", ["8b"]),
        ("toolspan ask --preset=My", "My", [r"My\ \*", "Mystery"]),
    ],
)
def test_bash_completes(line: str, word: str, found: list[str], shop: Path) -> None:
    for name in ("My *", "Mystery"):
        home = {"XDG_STATE_HOME": str(shop)}
        assert toolspan("presets", "create", name, "--tool", "calculator", cwd=shop, **home).code == 0
    words = " ".join(map(shlex.quote, [*line.removesuffix(word).split(), word]))
    script = (
        f'eval "$(toolspan completion bash)"; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); '
        f"COMP_LINE={shlex.quote(line)}; COMP_POINT=${{#COMP_LINE}}; _toolspan_completion toolspan; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert shell_says(["bash", "--norc", "-c", script], shop).splitlines() == found


HOSTILE = [
    "ev$(touch canary)",
    "ev`touch canary`",
    'ev";touch canary;"',
    "ev';touch canary;'",
    "ev; touch canary #",
    "ev&touch canary&",
    "ev\\$(touch canary)",
    "ev!!$(touch canary)",
    "ev'$(touch canary)'\"",
    "ev${IFS}$((1))<(touch canary)",
]


@pytest.mark.long
@pytest.mark.requirement("I24.6.6")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_nothing_in_a_completed_name_is_expanded_by_bash(quote: str, tmp_path: Path) -> None:
    with completing_bash(tmp_path) as say:
        for number, name in enumerate(HOSTILE):
            hostile = f"{number}{name}"
            PresetStore(LOCAL_USER, folder=tmp_path / "toolspan" / "presets").create(hostile)
            typed = say(f"toolspan ask --preset {quote}{number}ev")
            assert f"<{hostile}>" in typed, (hostile, typed)
    assert not (tmp_path / "canary").exists()


@pytest.mark.long
@pytest.mark.requirement("I13.5.1")
@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_completes(shop: Path) -> None:
    script = 'toolspan completion fish | source; complete -C "toolspan tools call ca"'
    assert shell_says(["fish", "--no-config", "-c", script], shop).split()[0] == "calculate"


@pytest.mark.long
@pytest.mark.requirement("I24.6.6")
@pytest.mark.parametrize(("shell", "quote"), [("zsh", ""), ("zsh", '"'), ("zsh", "'"), ("fish", "")])
def test_nothing_in_a_completed_name_is_expanded_by_zsh_or_fish(
    shell: str, quote: str, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no zsh or fish: {shell} is not here")
    presets = PresetStore(LOCAL_USER, folder=tmp_path / "toolspan" / "presets")
    for number, name in enumerate(HOSTILE):
        presets.create(f"{number}{name}")
    with interactive(shell, tmp_path) as (write, read_until):
        write(_SETUP[shell])
        read_until("ready")
        for number, name in enumerate(HOSTILE):
            write(f"toolspan ask --preset {quote}{number}ev\t\n echo do''ne\n")
            said = read_until("done")
            assert f"<{number}{name}>" in said, (name, said)
    assert not (tmp_path / "canary").exists()


_SHELLS = {"zsh": ["zsh", "-f", "-i"], "fish": ["fish", "--no-config", "-i"]}
_SETUP = {
    "zsh": 'PS1=; autoload -U compinit; compinit -u -D; eval "$(toolspan completion zsh)"; '
    "toolspan() { printf '<%s>' \"$@\" }; echo rea''dy\n",
    "fish": "function fish_prompt; end; toolspan completion fish | source; "
    "function toolspan; printf '<%s>' $argv; end; echo rea''dy\n",
}


@contextmanager
def interactive(shell: str, folder: Path) -> Generator[tuple[Callable[[str], None], Callable[[str], str]]]:
    """A shell at a terminal of its own: writes to it, and reads from it up to a mark."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", _AT_TERMINAL, *_SHELLS[shell]],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**os.environ, **home, "TERM": "dumb" if shell == "zsh" else "xterm", "PATH": path},
        start_new_session=True,
    ) as running:
        os.close(theirs)

        def read_until(mark: str) -> str:
            seen = ""
            while mark not in seen:
                assert select.select([ours], [], [], BOUND_S)[0], seen
                seen += os.read(ours, 65_536).decode("utf-8", "replace")
            return seen

        try:
            yield lambda text: os.write(ours, text.encode()) and None, read_until
        finally:
            running.kill()
            os.close(ours)


_AT_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


@contextmanager
def completing_bash(folder: Path) -> Generator[Callable[[str], str]]:
    """An interactive bash: gives what the last argument is once a line is typed, completed and entered."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "PS1": "", "TERM": "dumb"}
    ours, theirs = pty.openpty()
    command = ["bash", "--norc", "--noprofile", "-i"]
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**os.environ, **home, "PATH": path},
        start_new_session=True,
    ) as bash:
        os.close(theirs)

        def read_until(mark: str) -> str:
            seen = ""
            while mark not in seen:
                assert select.select([ours], [], [], BOUND_S)[0], seen
                seen += os.read(ours, 65_536).decode("utf-8", "replace")
            return seen

        def say(line: str) -> str:
            os.write(ours, f"{line}\t\n echo do''ne\n".encode())
            return read_until("done")

        try:
            os.write(ours, b"bind 'set enable-bracketed-paste off'; set -o histexpand\n")
            os.write(ours, b'eval "$(toolspan completion bash)"; toolspan() { printf "<%s>" "$@"; }\n')
            os.write(ours, b"echo rea''dy\n")
            read_until("ready")
            yield say
        finally:
            bash.kill()
            os.close(ours)


def shell_says(command: list[str], folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=True
    ).stdout
