"""The interface of search engines for ``WebSearch``: how each is asked, and how its answer is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from ..engines.http_client import Request
from .discovery import Parts
from .typed import TypedConfig


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What is searched: ``text``, at most ``count`` results, only of the hosts ``allowed`` (of all, when
    there are none) and of none of ``blocked``; a host stands for all below it too."""

    text: str
    count: int
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    def with_sites(self) -> str:
        """The text with the hosts as most engines understand them: ``site:`` and ``-site:``."""
        only = " OR ".join(f"site:{host}" for host in self.allowed)
        return " ".join(
            [self.text, *([f"({only})"] if only else []), *(f"-site:{each}" for each in self.blocked)]
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    title: str
    url: str
    text: str


class SearchEngineConfig(TypedConfig):
    """The config keys of one engine, in ``web_search`` of a workspace."""

    @property
    @abstractmethod
    def address(self) -> str:
        """Where requests go."""

    @override
    def hosts(self) -> Iterable[str]:
        yield host_of(self.address)

    @abstractmethod
    def request(self, question: SearchQuestion) -> Request:
        """The request that asks ``question``."""

    @abstractmethod
    def hits(self, answer: Any) -> Iterable[Hit]:
        """The results in ``answer``, the JSON of a successful response; what is malformed is left out."""


SEARCH_ENGINES = Parts[SearchEngineConfig]("toolspan_server.tools.search_engines")
"""Every search engine, by its ``type``."""


def host_of(address: str) -> str:
    """The host of a URL; empty where it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
