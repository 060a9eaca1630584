"""Include and exclude."""

from __future__ import annotations

import time

import pytest

from toolspan_server.documents._globs import Selection

pytestmark = pytest.mark.requirement("I2.4.3")


@pytest.mark.parametrize(
    ("pattern", "path", "selected"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("**/*.md", "a/b/c.mdx", False),
        ("*.md", "a.md", True),
        ("*.md", "a/b.md", False),
        ("guide/**", "guide/a/b.md", True),
        ("guide/**", "other/a.md", False),
        ("guide/*/index.md", "guide/x/index.md", True),
        ("guide/*/index.md", "guide/x/y/index.md", False),
        ("./guide/?.md", "guide/a.md", True),
        ("[ab].md", "b.md", True),
        ("[ab].md", "c.md", False),
        ("**/*.md", "README.MD", True),
        ("a/**/b/**/c.md", "a/x/b/y/z/c.md", True),
        ("a/**/b.md", "a/b.md", True),
        ("**", "any/thing", True),
    ],
)
def test_a_glob_selects_by_the_whole_relative_path(pattern: str, path: str, selected: bool) -> None:
    assert Selection([pattern]).selects(path) is selected


def test_exclude_wins_over_include() -> None:
    selection = Selection(["**/*.md"], ["drafts", "**/secret.md"])
    assert selection.selects("a/b.md")
    assert not selection.selects("a/secret.md")
    assert selection.excludes("drafts")
    assert not selection.reaches("drafts/a.md")
    assert not selection.excludes("other/drafts")


@pytest.mark.parametrize("folder", [".git", "node_modules", ".venv", ".toolspan"])
def test_folders_of_tools_are_always_excluded(folder: str) -> None:
    assert Selection(["**"]).excludes(f"deep/{folder}")
    assert not Selection(["**"]).reaches(f"deep/{folder}/a.md")


def test_many_stars_cost_little_time() -> None:
    selection = Selection(["**/" * 20 + "*a" * 20 + "b"])
    started = time.monotonic()
    assert not selection.selects("/".join(["a" * 100] * 50))
    assert time.monotonic() - started < 1
