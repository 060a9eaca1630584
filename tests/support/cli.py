"""The command line, run to its end: in this process, or as a person's shell runs it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from toolspan_bridge.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The data on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error that ``--json`` puts on stderr: its last line."""
        return json.loads(self.err.strip().splitlines()[-1])["error"]


def toolspan(*arguments: str, cwd: Path, stdin: str = "", **environment: str) -> Ran:
    """Run ``toolspan ARGUMENTS`` in ``cwd``, in this process; its servers are real."""
    out, err = io.StringIO(), io.StringIO()
    with (
        chdir(cwd),
        patch.dict(os.environ, {"COLUMNS": "120", **environment}),
        patch.object(sys, "stdin", io.StringIO(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main(arguments)
    return Ran(code, out.getvalue(), err.getvalue())


def toolspan_process(*arguments: str, cwd: Path, stdin: str = "", **environment: str) -> Ran:
    """The same as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "toolspan_bridge", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120", **environment},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
