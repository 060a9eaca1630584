"""Include and exclude."""

from __future__ import annotations

import pytest

from tests.support.cost import at_most
from toolspan_server.engines.documents._globs import Selection

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
    with at_most(units=100):
        assert not selection.selects("/".join(["a" * 100] * 50))


HIDDEN = [
    ("**/*", ".env", False),
    ("**/*", "a/.env", False),
    ("**", ".github/workflows/a.yml", False),
    ("*/a.yml", ".github/a.yml", False),
    ("[.]env", ".env", False),
    ("?env", ".env", False),
    (".env", ".env", True),
    ("**/.env", "a/b/.env", True),
    ("**/.*", "a/.env", True),
    ("**/.env", ".a/.env", False),
    (".github/**", ".github/workflows/a.yml", True),
    (".github/**", ".github/.a/b.yml", False),
    (".github/**/.*", ".github/.env", True),
    ("**/*", "a/.b/c.md", False),
]
KEYS = [
    ("**/*", "server.pem", False),
    ("**", "a/SERVER.KEY", False),
    ("**/id_*", "id_rsa", False),
    ("**/id_*", "id_rsa.pub", True),
    ("**/id_rsa", "a/id_rsa", True),
    ("**/*.pem", "a/server.pem", True),
    ("**/*.pem", "a/server.key", False),
    ("certs/**", "certs/ca.p12", False),
    ("**/*", "credentials", False),
    ("**/*", "credentials/a.md", True),
    ("**/*", "a.pem/b.md", True),
    ("**/*", "keys.md", True),
]


@pytest.mark.requirement("I9.3.24")
@pytest.mark.parametrize(("pattern", "path", "selected"), [*HIDDEN, *KEYS])
def test_wildcards_select_nothing_hidden_and_no_keys(pattern: str, path: str, selected: bool) -> None:
    selection = Selection([pattern])
    assert selection.selects(path) is selected
    folders = path.split("/")[:-1]
    reached = all(selection.enters("/".join(folders[:end])) for end in range(1, len(folders) + 1))
    assert reached or not selected


@pytest.mark.requirement("I9.3.24")
def test_what_excludes_matches_hidden_names_too() -> None:
    selection = Selection(["**/.env*"], ["**/*.local"])
    assert selection.selects("a/.env")
    assert not selection.selects("a/.env.local")
