"""A copy of this tree in which something is added."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDITIONS = Path(__file__).parent / "additions"
GENERATED = {
    "configs/toolspan.schema.json",
    "docs/man",
    "docs/reference",
    "tests/support/real_tools/losses",
}


@dataclass(frozen=True)
class CopiedTree:
    """``root`` is a git repository with one commit; programs that run in it import its packages."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> CopiedTree:
        """A copy in the folder ``root``, which is not there yet."""
        listed = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        for name in filter(None, listed):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)
        _git(root, "init", "--quiet")
        _git(root, "add", "--all", "--force")
        _git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "before")
        return cls(root)

    def add(self, folder: Path) -> set[str]:
        """Put every file of ``folder`` where it belongs. Gives their paths; none may be there already."""
        added = {
            path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and _is_source(path)
        }
        for path in added:
            assert not (self.root / path).exists(), path
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / path, self.root / path)
        return {path.as_posix() for path in added}

    def add_format(self, name: str, like: str) -> set[str]:
        """The format ``like`` once more, under ``name``, with its cases."""
        copies = {
            f"bridge/toolspan_bridge/formats/{like}": f"bridge/toolspan_bridge/formats/{name}",
            f"tests/support/wires/{like}.py": f"tests/support/wires/{name}.py",
            f"tests/support/provider_rules/{like}.py": f"tests/support/provider_rules/{name}.py",
        }
        for source, target in copies.items():
            copy = shutil.copytree if (self.root / source).is_dir() else shutil.copy2
            copy(self.root / source, self.root / target)
        folder = self.root / "bridge" / "toolspan_bridge" / "formats" / name
        return {
            *(path.relative_to(self.root).as_posix() for path in folder.glob("*.py")),
            *(target for target in copies.values() if target.endswith(".py")),
        }

    def run(self, *command: str, timeout: float = 900) -> str:
        """What ``command`` writes, a program of this Python's environment; it must end well."""
        ended = subprocess.run(
            [str(Path(sys.executable).parent / command[0]), *command[1:]],
            cwd=self.root,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
                "PYTHONPATH": os.pathsep.join([str(self.root / "server"), str(self.root / "bridge")]),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-8_000:] + ended.stderr[-4_000:]
        return ended.stdout

    def changed(self) -> set[str]:
        """The files that are not as they were, generated ones left out."""
        lines = _git(self.root, "status", "--porcelain", "--untracked-files=all").splitlines()
        paths = {line[3:] for line in lines}
        return {path for path in paths if not any(path.startswith(each) for each in GENERATED)}


def _is_source(path: Path) -> bool:
    return "__pycache__" not in path.parts


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    ).stdout
