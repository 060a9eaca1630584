"""The files of the page, as they are served."""

from __future__ import annotations

import gzip
import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from toolspan_bridge.web.page import page_routes
from toolspan_bridge.web.page.assets import assets

MOST_BYTES = 300_000
pytestmark = pytest.mark.requirement("I15.2.9")


def test_all_files_together_are_small() -> None:
    assert sum(len(each.content) for each in assets().values()) <= MOST_BYTES


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    for path, asset in assets().items():
        text = asset.content.decode()
        if path.endswith(".html"):
            assert re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text) is None, path
        if path.endswith((".html", ".css")):
            assert re.search(r"(src|href)=\"(https?:)?//|url\(|@import", text) is None, path
        if path.endswith(".js"):
            assert (
                re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text) is None
            ), path
            for imported in re.findall(r"(?:from|import\()\s*[\"'](\S+?)[\"']", text):
                assert imported.startswith("."), (path, imported)


def test_every_import_of_a_module_leads_to_a_file() -> None:
    found = assets()
    for path, asset in found.items():
        for imported in re.findall(r"(?:from|import\()\s*\"(\.[^\"$]+)\"", asset.content.decode()):
            parts = path.split("/")[:-1]
            for part in imported.split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            assert "/".join(parts) in found, (path, imported)


def test_a_file_is_given_by_its_name_alone_and_not_again_when_it_is_known() -> None:
    client = TestClient(Starlette(routes=list(page_routes())))
    page = client.get("/")
    assert str(page.url).endswith("/ui/") and "<!doctype html>" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert client.get("/ui/", headers={"If-None-Match": page.headers["etag"]}).status_code == 304
    raw = client.get("/ui/app.js", headers={"Accept-Encoding": "identity"})
    assert raw.headers["content-type"].startswith("text/javascript")
    assert gzip.compress(raw.content) and "content-encoding" not in raw.headers
    for wrong in ("/ui/../assets.py", "/ui/%2e%2e/assets.py", "/ui/..%2f..%2f__init__.py", "/ui/none.js"):
        assert client.get(wrong).status_code == 404, wrong
