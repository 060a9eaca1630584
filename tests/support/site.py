"""Reads a built site as a browser would: what its pages load, where their links lead."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from typing_extensions import override

_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}
_URL_IN_STYLE = re.compile(r"""(?:url\(|@import\s+)["']?([^"')\s]+)""")


@dataclass
class Page(HTMLParser):
    """A page's anchors, the addresses that it loads and those that it links to."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)
        self.feed(self.path.read_text("utf-8"))

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in _LOADED and _LOADED[tag] in given:
            self.loads.append(given[_LOADED[tag]])
        self.loads += _URL_IN_STYLE.findall(given.get("style", ""))


class Site:
    """The pages of ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.pages = {path: Page(path) for path in sorted(self.folder.rglob("*.html"))}

    def broken(self) -> list[str]:
        """What pages link to or load, and what is not there: ``guide.html: other.html#part``."""
        return [
            f"{page.path.relative_to(self.folder)}: {address}"
            for page in self.pages.values()
            for address in (*page.links, *page.loads)
            if not urlsplit(address).netloc and not self._is_there(page.path, address)
        ]

    def remote(self) -> list[str]:
        """What pages and style sheets load from another host."""
        loads = [(page.path, address) for page in self.pages.values() for address in page.loads]
        for path in self.folder.rglob("*.css"):
            loads += [(path, address) for address in _URL_IN_STYLE.findall(path.read_text("utf-8"))]
        return [f"{path.relative_to(self.folder)}: {url}" for path, url in loads if urlsplit(url).netloc]

    def _is_there(self, start: Path, address: str) -> bool:
        parts = urlsplit(address)
        if parts.scheme:
            return parts.scheme in {"data", "mailto"}
        # A web server shows 404.html at any address: its links start at the root.
        base = self.folder if start.name == "404.html" else start.parent
        path = parts.path.lstrip("/") if start.name == "404.html" else parts.path
        target = (base / unquote(path)).resolve() if path else start
        if not target.is_relative_to(self.folder) or not target.is_file():
            return False
        page = self.pages.get(target)
        return not parts.fragment or (page is not None and unquote(parts.fragment) in page.anchors)
