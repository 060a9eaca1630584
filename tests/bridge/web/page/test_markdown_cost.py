"""The page's Markdown reads each character a bounded number of times."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.node, pytest.mark.long, pytest.mark.requirement("I24.5.1")]

STATIC = Path(__file__).parents[4] / "bridge/toolspan_bridge/web/page/static"
_BLANKS = " " * 100_000
TEXTS = [
    f"# {_BLANKS}x{_BLANKS}#x",
    f"```{_BLANKS}`",
    f"a|b\n-{_BLANKS}x",
    f"a|b\n|{_BLANKS}|",
    f"- a\n{chr(10) * 100_000}- b",
    f"---{_BLANKS}x",
    "#" * 100_000 + " x " + "#" * 100_000 + "x",
    f"1.{_BLANKS}x",
]


def test_long_runs_of_blanks_and_signs_are_read_once(tmp_path: Path) -> None:
    """With patterns that try every split, each of these takes hours."""
    program = tmp_path / "program.mjs"
    text = json.dumps(TEXTS)
    (tmp_path / "texts.json").write_text(text)
    program.write_text(
        'import { readFileSync } from "node:fs";\n'
        f"import {{ blocks }} from {json.dumps((STATIC / 'lib/markdown.js').as_uri())};\n"
        f"const texts = JSON.parse(readFileSync({json.dumps(str(tmp_path / 'texts.json'))}));\n"
        "for (const text of texts) console.log(blocks(text).length);\n"
    )
    done = subprocess.run(["node", program], capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(TEXTS)
