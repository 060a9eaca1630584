"""``python -m scripts.docs.site`` builds the site into ``site/``; fails when the build has anything to say.

The generator's own strict mode covers links, anchors and references, but not what is logged by the library
that reads the docstrings.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_EXPECTED = re.compile(r"Build started|Build finished in [\d.]+m?s|No issues found|")

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def build(folder: Path) -> list[str]:
    """Build the site of ``folder``, which has the ``zensical.toml``; gives what the build complained of."""
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = _COLOUR.sub("", done.stdout).splitlines()
    complaints = [line for line in lines if not _EXPECTED.fullmatch(line.strip())]
    return complaints or ([f"exit code {done.returncode}"] if done.returncode else [])


def main() -> int:
    """Build the site of this repository; 1 when there were complaints, which are printed."""
    complaints = build(Path(__file__).parents[2])
    print("\n".join(complaints) or "site/index.html")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
