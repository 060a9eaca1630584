"""The documentation's site: built without a complaint, whole, and complete without a network."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scripts.docs.site import build
from tests.support.documents import ROOT
from tests.support.site import Site

PYTHON = {
    "toolspan_server": "server",
    "toolspan_server.config": "config",
    "toolspan_bridge": "bridge",
}


def sources(folder: Path) -> Path:
    """A copy of what the site is built from, in ``folder``."""
    shutil.copy(ROOT / "zensical.toml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    for package in ("server", "bridge"):
        (folder / package).symlink_to(ROOT / package)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = sources(tmp_path_factory.mktemp("site"))
    complaints = build(folder)
    assert not complaints, "\n".join(complaints)
    return Site(folder / "site")


@pytest.mark.long
@pytest.mark.requirement("I10.5.8")
def test_every_link_of_the_site_leads_to_a_page_and_an_anchor(site: Site) -> None:
    assert len(site.pages) > 20
    assert sum(len(page.links) for page in site.pages.values()) > 1000
    assert site.broken() == []


@pytest.mark.long
@pytest.mark.requirement("I10.5.8")
def test_no_page_loads_anything_from_another_host(site: Site) -> None:
    assert site.remote() == []


@pytest.mark.long
@pytest.mark.requirement("I10.5.8")
def test_search_knows_every_page(site: Site) -> None:
    index = (site.folder / "search.js").read_text("utf-8")
    pages = {path.relative_to(site.folder).as_posix() for path in site.pages} - {"404.html"}
    assert [page for page in pages if f'"location":"{page}' not in index] == []


@pytest.mark.long
@pytest.mark.requirement("I10.5.9")
@pytest.mark.parametrize("package", PYTHON)
def test_every_exported_name_has_its_entry(site: Site, package: str) -> None:
    page = site.pages[site.folder / "reference" / "python" / f"{PYTHON[package]}.html"]
    exported = getattr(import_module(package), "__all__", ())
    assert [name for name in exported if f"{package}.{name}" not in page.anchors] == []


@pytest.mark.long
@pytest.mark.requirement("I10.5.8")
def test_the_build_complains_of_what_leads_nowhere(tmp_path: Path) -> None:
    page = sources(tmp_path) / "docs" / "index.md"
    page.write_text("# Start\n\n[a](nowhere.md) [b](how-to/auth.md#nowhere) [c][toolspan_server.Nowhere]\n")
    complaints = "\n".join(build(tmp_path))
    for complaint in ("page does not exist", "anchor does not exist", "unresolved autoref"):
        assert complaint in complaints


@pytest.mark.requirement("I10.5.8")
def test_every_page_has_its_place_in_the_navigation() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(_paths(config["project"]["nav"])) == sorted(written)


def _paths(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from _paths(inner)


@pytest.mark.requirement("I10.5.8")
@pytest.mark.parametrize(
    "html", ['<a href="gone.html">', '<a href="#gone">', '<a href="b.html#gone">', '<script src="gone.js">']
)
def test_a_link_that_leads_nowhere_is_found(html: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f'<a id="top" href="b.html#part"></a><a href="#top"></a>{html}')
    (tmp_path / "b.html").write_text('<h2 id="part"></h2>')
    assert len(Site(tmp_path).broken()) == 1


@pytest.mark.requirement("I10.5.8")
@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.com/a.js">',
        '<link rel="stylesheet" href="//example.com/a.css">',
        '<p style="background: url(https://example.com/a.png)">',
    ],
)
def test_what_is_loaded_from_another_host_is_found(html: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f'<a href="https://example.com/">A link loads nothing.</a>{html}')
    assert len(Site(tmp_path).remote()) == 1
