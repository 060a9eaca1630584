"""The passages of a config's documents that fit a question, for ``{{rag_context}}`` of a rule's prompt.

They are searched by a server of our own that has nothing but the config's collections.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from toolspan_server.config import Config, load_config

from ..errors import StoreError
from ..principals import LOCAL_USER
from ..toolbox import Toolbox, own_server

_TOOL = "search_documents"
_QUERY_CHARACTERS = 10_000
_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "collection": {"type": "string"},
        "max_results": {"type": "integer"},
    },
    "required": ["query"],
}


@dataclass(frozen=True, slots=True)
class Passages:
    """What a rule wants of the documents: from which ``collection`` (``None``: of all), and how many."""

    collection: str | None
    most: int


class Documents:
    """The searchable collections of a config, the same for everybody."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    @classmethod
    @asynccontextmanager
    async def opened(cls, config: Config) -> AsyncGenerator[Documents]:
        """Start the server that searches them; it ends with the block."""
        with tempfile.TemporaryDirectory(prefix="toolspan-") as folder:
            path = Path(folder) / "documents.json"
            path.write_text(json.dumps(_config(config)), "utf-8")
            spec = replace(own_server(load_config(path)), redactor=config.redact)
            async with Toolbox.connect([spec], principal=LOCAL_USER) as toolbox:
                for failure in toolbox.failures:
                    raise StoreError(f"the documents of the route cannot be searched: {failure}")
                yield cls(toolbox)

    async def context(self, wanted: Passages, question: str) -> str:
        """The passages that fit ``question`` best, each under its source; empty when none does.

        Raises ``StoreError`` when they cannot be searched.
        """
        arguments: dict[str, Any] = {"query": question[:_QUERY_CHARACTERS], "max_results": wanted.most}
        if wanted.collection is not None:
            arguments["collection"] = wanted.collection
        (tool,) = self._toolbox.tools
        outcome = await self._toolbox.call(tool, arguments, "rag_context")
        if outcome.failed:
            raise StoreError(f"the documents of the route cannot be searched: {outcome.result['error']}")
        found = cast("list[Mapping[str, Any]]", outcome.result["result"]["results"])
        return "\n\n".join(_passage(each) for each in found)


def _passage(found: Mapping[str, Any]) -> str:
    place = " › ".join(str(found[name]) for name in ("source", "heading") if found.get(name))
    return f"[{place}]\n{found['snippet']}"


def _config(config: Config) -> dict[str, Any]:
    base = config.directory.absolute()
    collections = {
        name: {
            "path": _literal(str(base / entry.path)),
            "include": [_literal(each) for each in entry.include],
            "exclude": [_literal(each) for each in entry.exclude],
        }
        for name, entry in config.services.entries("collections").items()
    }
    tool = {
        "name": _TOOL,
        "description": "Searches the documents.",
        "parameters": _SCHEMA,
        "implementation": {"type": "internal", "handler": "rag_query"},
    }
    return {
        "name": "documents",
        "state_dir": _literal(str(config.state_directory.absolute())),
        "services": {"collections": collections},
        "tools": {"registry": [tool]},
    }


def _literal(text: str) -> str:
    """``text`` such that no variable of the environment is read in it."""
    return text.replace("${", "$${")
