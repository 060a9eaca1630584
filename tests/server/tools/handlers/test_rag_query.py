"""``rag_query``: what it takes, what it answers, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.document_collections import ask, serving, until_found, write
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Context
from toolspan_server.errors import InvalidParameters, ToolFailure
from toolspan_server.tools.handlers.rag_query import QUERY_CHARACTERS, rag_query

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.4.3", "I4.4.1")]

DEMO_DOCS = Path(__file__).parents[4] / "bridge" / "toolspan_bridge" / "demo" / "docs"
GUIDE = {"guide.md": "# Guide\n\n## Decorators\n\nA decorator wraps a function.\n\n## Install\n\nUse pip.\n"}


async def test_the_answer_has_source_heading_score_and_snippet(tmp_path: Path) -> None:
    write(tmp_path / "docs", GUIDE)
    async with serving(tmp_path, docs={"path": "docs"}) as collections:
        answer = await ask(collections, query="decorators", collection="docs")
    score = answer["results"][0].pop("score")
    assert score > 0
    assert answer == {
        "query": "decorators",
        "collection": "docs",
        "results": [
            {
                "source": "guide.md",
                "heading": "Guide > Decorators",
                "snippet": "A decorator wraps a function.",
            }
        ],
        "total": 1,
    }


async def test_the_demo_finds_its_page_on_decorators(tmp_path: Path) -> None:
    async with serving(tmp_path, docs={"path": str(DEMO_DOCS)}) as collections:
        answer = await ask(collections, query="Search for Python decorators in the docs")
        assert answer["results"][0]["source"] == "decorators.md"
        answer = await ask(collections, query="how is a task cancelled after a timeout?")
        assert answer["results"][0]["heading"].endswith("> Timeouts and cancellation")


async def test_without_a_collection_all_are_searched_and_each_result_names_its_own(tmp_path: Path) -> None:
    write(tmp_path / "a", {"one.md": "needle"})
    write(tmp_path / "b", {"two.md": "needle"})
    async with serving(tmp_path, a={"path": "a"}, b={"path": "b"}) as collections:
        answer = await ask(collections, query="needle")
        assert {(hit["collection"], hit["source"]) for hit in answer["results"]} == {
            ("a", "one.md"),
            ("b", "two.md"),
        }
        assert (answer["collection"], answer["total"]) == (None, 2)
        alone = await ask(collections, query="needle", collection="b")
        assert [hit["source"] for hit in alone["results"]] == ["two.md"]


async def test_max_results_bounds_the_results_and_not_the_total(tmp_path: Path) -> None:
    write(tmp_path / "docs", {f"{number}.md": "needle" for number in range(60)})
    async with serving(tmp_path, docs={"path": "docs"}) as collections:
        for given, expected in (({}, 5), ({"max_results": 1}, 1), ({"max_results": 50}, 50)):
            answer = await ask(collections, query="needle", **given)
            assert (len(answer["results"]), answer["total"]) == (expected, 60)


@pytest.mark.parametrize("value", [0, -1, 51, 1_000_000_000, 1.5, True, "5", float("nan"), float("inf")])
async def test_max_results_out_of_range_is_refused(tmp_path: Path, value: Any) -> None:
    async with serving(tmp_path, docs={"path": "docs"}) as collections:
        with pytest.raises(InvalidParameters, match="'max_results' must be"):
            await ask(collections, query="needle", max_results=value)


@pytest.mark.parametrize("query", ["", "   ", '"', "***", "\0\0", "\ud800"])
async def test_a_query_without_words_finds_nothing(tmp_path: Path, query: str) -> None:
    write(tmp_path / "docs", GUIDE)
    async with serving(tmp_path, docs={"path": "docs"}) as collections:
        assert await ask(collections, query=query, collection="docs") == {
            "query": query,
            "collection": "docs",
            "results": [],
            "total": 0,
        }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "missing 'query'"),
        ({"query": 5}, "'query' must be a string"),
        ({"query": "x" * 1_048_576}, f"'query' has 1048576 characters, the most is {QUERY_CHARACTERS}"),
        ({"query": "x", "collection": 5}, "'collection' must be a string"),
    ],
)
async def test_wrong_arguments_are_named(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    async with serving(tmp_path, docs={"path": "docs"}) as collections:
        with pytest.raises(InvalidParameters, match=message):
            await ask(collections, **arguments)


async def test_an_unknown_collection_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    async with serving(tmp_path, docs={"path": "docs"}, api={"path": "api"}) as collections:
        with pytest.raises(ToolFailure, match=r"Collection 'dcos' not found \(known: docs, api\)") as caught:
            await ask(collections, query="x", collection="dcos")
    assert caught.value.error_code == "collection_not_found"


@pytest.mark.parametrize("configs", [None, {}])
async def test_without_any_collection_the_service_is_not_configured(tmp_path: Path, configs: Any) -> None:
    with pytest.raises(ToolFailure) as caught:
        if configs is None:
            await rag_query({"query": "x"}, Context(LOCAL))
        else:
            async with serving(tmp_path, **configs) as collections:
                await ask(collections, query="x")
    assert caught.value.error_code == "service_not_configured"


async def test_a_collection_that_cannot_be_searched_is_told_beside_the_others(tmp_path: Path) -> None:
    write(tmp_path / "docs", GUIDE)
    async with serving(tmp_path, docs={"path": "docs"}, gone={"path": "gone"}) as collections:
        answer = await ask(collections, query="pip")
        assert [hit["source"] for hit in answer["results"]] == ["guide.md"]
        assert answer["unavailable"] == {
            "gone": "Collection 'gone' cannot be searched: its folder does not exist"
        }
        with pytest.raises(ToolFailure) as caught:
            await ask(collections, query="pip", collection="gone")
    assert caught.value.error_code == "collection_unavailable"


async def test_documents_removed_during_queries_are_found_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {f"{number}.md": "# Page\n\nneedle\n" for number in range(20)})
    async with serving(tmp_path, docs={"path": "docs"}) as collections:
        docs = collections.collections["docs"]
        await docs.changed()

        async def remove() -> None:
            for number in range(20):
                (folder / f"{number}.md").unlink()
            await until_found(docs, "needle", [])
            removed.set()

        removed = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(remove)
            while not removed.is_set():
                answer = await ask(collections, query="needle", max_results=50)
                assert len(answer["results"]) == answer["total"]
                assert all(hit["snippet"] == "needle" for hit in answer["results"])
