"""Runs a Markdown document's code blocks as its reader would: in order, in one folder.

=============  ==========================================================================
```console     each ``$ command`` runs; the lines under it are its output. ``…`` stands for
               any text within a line, and for any lines where it is alone on one
```yaml/json   written to the file that the info string names (``title="tools.yaml"``)
```python      written and run as a program; with a title, only written
```text        not code: a picture, or a fragment
=============  ==========================================================================

Anything else fails, so that no block goes unexecuted.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from markdown_it import MarkdownIt

from toolspan_bridge.cli import main

ROOT = Path(__file__).parents[2]

_TITLE = re.compile(r'title="([^"]+)"')
_SAME_OUTPUT = {
    # The set-up that precedes it needs the network; CI proves it from a fresh clone.
    "make demo": "make --assume-old=.venv/.toolspan demo",
}
STAND_INS: Mapping[str, str] = {
    # The suite cannot run itself: what `make test` would run is shown instead.
    "make test": "make --dry-run test",
    # A run takes minutes; tests/end_to_end/test_benchmarks.py makes a quick one.
    "make bench": "make --dry-run bench",
    # Setting up needs the network; CI proves it from a fresh clone through `make test`.
    "python3 -m venv .venv": "true",
    ". .venv/bin/activate": "true",
    "pip install .": "true",
}
_ENDS_WHAT_SERVES = """timeout() {
    local line
    exec 3< <(exec "${@:4}" 2>&1)
    while read -r line <&3; do
        echo "$line"
        [[ $line != *" serving "* && $line != *" is at http:"* ]] || kill -s "${2#*=}" $!
    done
    wait $!
}
"""
# The server is ended as soon as it says that it serves: the same as after the seconds, without the wait.
_KEPT = ("cd ", ". ")
# What these do to a shell holds for the commands that follow.
_WORDS = r"""(?:[^|&;<>$`\\*?~"]|"[^"$`\\]*")*"""
_PLAIN = re.compile(rf"""(?:echo "([^"$`\\]*)" \| )?toolspan (?!serve\b)({_WORDS})(; echo \$\?)?""")
_SCRIPT = re.compile(rf"python (\w+\.py{_WORDS})")
# What needs little of a shell, and is no program that runs until it is ended.
_WAITS = re.compile(r"^(?:toolspan: )?waiting for .* \(.* so far\)\n", re.MULTILINE)
"""What is said where something takes long: a slow machine says it anywhere."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title if any, its text, its first line's number."""

    language: str
    title: str
    text: str
    line: int


def blocks(path: Path) -> list[Block]:
    """The fenced code blocks of ``path``, in order."""
    found: list[Block] = []
    for token in MarkdownIt().parse(path.read_text("utf-8")):
        if token.type in {"fence", "code_block"}:
            language, _, rest = token.info.strip().partition(" ")
            title = _TITLE.search(rest)
            line = token.map[0] + 1 if token.map else 0
            found.append(Block(language, title[1] if title else "", token.content, line))
    return found


class Reader:
    """Someone who follows a document to the letter in ``folder``.

    With ``shell``, every command is a process; without, plain ``toolspan`` commands run in this one, which
    imports their libraries once and not for each. The servers that they start are processes either way.
    ``stand_ins`` are what runs instead of some commands; ``cd`` and ``.`` hold for what follows them.
    """

    def __init__(
        self, folder: Path, *, shell: bool = False, stand_ins: Mapping[str, str] = STAND_INS
    ) -> None:
        self.folder = folder
        self.shell = shell
        self.stand_ins = stand_ins
        self.environment = {
            **{k: v for k, v in os.environ.items() if k in {"LANG", "TMPDIR", "SYSTEMROOT"}},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(folder),
            "COLUMNS": "120",
        }

    def follow(self, block: Block) -> None:
        """Do what ``block`` says; raises ``AssertionError`` when it does not come out as shown."""
        match block.language:
            case "console":
                self._console(block)
            case "yaml" | "json" | "python" | "text" if block.title:
                target = self.folder / block.title
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, "utf-8")
            case "python":
                self._python(block)
            case "text":
                pass
            case _:
                raise AssertionError(f"line {block.line}: a {block.language!r} block is executed by nothing")

    def _python(self, block: Block) -> None:
        program = self.folder / "program_of_a_block.py"
        program.write_text(block.text, "utf-8")
        done = self._run([sys.executable, program.name])
        program.unlink()
        assert done.returncode == 0, f"line {block.line}: {done.stdout}"

    def _console(self, block: Block) -> None:
        for command, shown in _commands(block.text):
            actual = self.stand_ins.get(command) or _SAME_OUTPUT.get(command, command)
            if actual.startswith(_KEPT):
                self._keep(actual, block)
                continue
            folder = ROOT if command.startswith("make ") else self.folder
            plain = None if self.shell else _PLAIN.fullmatch(actual)
            script = None if self.shell else _SCRIPT.fullmatch(actual)
            if script is not None:
                done = self._run([sys.executable, *shlex.split(script[1])])
                code, printed = done.returncode, done.stdout
            elif plain is not None:
                code, printed = self._in_process(*plain.groups())
            else:
                done = self._run(["bash", "-c", _ENDS_WHAT_SERVES + actual], folder)
                code, printed = done.returncode, done.stdout
            assert code == 0, f"line {block.line}: exit {code}: $ {command}\n{printed}"
            printed = _WAITS.sub("", printed)
            if shown and command not in self.stand_ins:
                assert re.fullmatch(_pattern(shown), printed.strip(), re.DOTALL), (
                    f"line {block.line}: $ {command}\n--- printed\n{printed}\n--- shown\n{shown}"
                )

    def _keep(self, command: str, block: Block) -> None:
        done = self._run(["bash", "-c", f'{command} && echo "$PWD" && env -0'])
        assert done.returncode == 0, f"line {block.line}: exit {done.returncode}: $ {command}\n{done.stdout}"
        folder, _, variables = done.stdout.partition("\n")
        self.folder = Path(folder)
        pairs = (each.partition("=") for each in variables.split("\0") if each)
        self.environment = {name: value for name, _, value in pairs}

    def _in_process(self, typed: str | None, arguments: str, tells: str | None) -> tuple[int, str]:
        printed = io.StringIO()
        with (
            chdir(self.folder),
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "stdin", io.StringIO("" if typed is None else f"{typed}\n")),
            redirect_stdout(printed),
            redirect_stderr(printed),
        ):
            code = main(shlex.split(arguments))
        return (0, f"{printed.getvalue()}{code}\n") if tells else (code, printed.getvalue())

    def _run(self, command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=folder or self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )


def _commands(text: str) -> list[tuple[str, str]]:
    """Each command with the output shown under it."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(lines).strip()) for command, lines in found]


def _pattern(shown: str) -> str:
    lines: list[str] = []
    for line in shown.splitlines():
        if line.strip() == "…":
            lines.append(".*?")
        else:
            text = re.escape(line.rstrip()).replace("…", "[^\n]*?")
            lines.append(re.sub(r"(\\ )+", r"[ ]+", text) + "[ ]*")
    return "\n".join(lines)
