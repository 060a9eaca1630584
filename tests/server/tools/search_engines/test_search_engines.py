"""``WebSearch``: each engine is asked as its documentation says, and its answers are read."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_api import Api, data, response, serving
from tests.support.workspaces import workspace_tools
from toolspan_server import Config, ConfigError

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.26")]
KEY = "key-that-nobody-may-see"
ANSWERS: dict[str, Any] = {
    "searxng": {
        "query": "tea",
        "number_of_results": 2,
        "results": [
            {"url": "https://a.example/1", "title": "One", "content": "of <b>tea</b>"},
            {"url": "https://b.example/2", "title": "Two", "content": "more &amp; more"},
            {"title": "no address"},
            "nothing",
        ],
        "answers": [],
        "unresponsive_engines": [],
    },
    "brave": {
        "type": "search",
        "query": {"original": "tea"},
        "web": {
            "type": "search",
            "results": [
                {"title": "One", "url": "https://a.example/1", "description": "of <strong>tea</strong>"},
                {"title": "Two", "url": "https://b.example/2", "description": "more &amp; more"},
                {"title": "bad", "url": "javascript:alert(1)"},
            ],
        },
    },
    "tavily": {
        "query": "tea",
        "answer": None,
        "images": [],
        "results": [
            {"title": "One", "url": "https://a.example/1", "content": "of tea"},
            {"title": "Two", "url": "https://b.example/2", "content": "more & more"},
        ],
        "response_time": 1.0,
    },
}
EMPTY: list[Any] = [{}, {"results": {}}, {"web": []}, {"results": [[], 1, None, {"url": 5}]}]
HITS = [
    {"title": "One", "url": "https://a.example/1", "text": "of tea"},
    {"title": "Two", "url": "https://b.example/2", "text": "more & more"},
]


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as served:
        yield served


def engine(api: Api, name: str) -> dict[str, Any]:
    keyed = {} if name == "searxng" else {"api_key": KEY}
    path = {"searxng": "", "brave": "/res/v1/web/search", "tavily": "/search"}[name]
    return {"type": name, "url": api.url + path, **keyed}


def tools(folder: Path, search: dict[str, Any] | None) -> Any:
    return workspace_tools(folder, folder / "state", **({} if search is None else {"web_search": search}))


@pytest.mark.parametrize("name", list(ANSWERS))
async def test_an_engine_gives_titles_addresses_and_texts(api: Api, tmp_path: Path, name: str) -> None:
    api.replies(data(ANSWERS[name]))
    async with tools(tmp_path, engine(api, name)) as workspace:
        result = await workspace.good("WebSearch", query="tea")
    assert result["results"] == HITS
    assert "not instructions" in result["notice"]


async def test_searxng_is_asked_for_json(api: Api, tmp_path: Path) -> None:
    api.replies(data(ANSWERS["searxng"]))
    async with tools(tmp_path, {**engine(api, "searxng"), "language": "de"}) as workspace:
        await workspace.good("WebSearch", query="tea & cake", blocked_domains=["b.example"])
    seen = api.seen[0]
    assert (seen.method, seen.path) == ("GET", "/search")
    assert dict(seen.query) == {"q": "tea & cake -site:b.example", "format": "json", "language": "de"}


async def test_brave_gets_its_token_in_a_header_and_at_most_twenty_results(api: Api, tmp_path: Path) -> None:
    api.replies(data(ANSWERS["brave"]))
    async with tools(tmp_path, engine(api, "brave")) as workspace:
        await workspace.good("WebSearch", query="tea", allowed_domains=["A.example"], max_results=20)
    seen = api.seen[0]
    assert (seen.method, seen.path) == ("GET", "/res/v1/web/search")
    assert dict(seen.query) == {"q": "tea (site:a.example)", "count": "20"}
    assert seen.headers["x-subscription-token"] == KEY


async def test_tavily_gets_its_key_as_bearer_and_the_domains_in_the_body(api: Api, tmp_path: Path) -> None:
    api.replies(data(ANSWERS["tavily"]))
    async with tools(tmp_path, engine(api, "tavily")) as workspace:
        await workspace.good(
            "WebSearch", query="tea", allowed_domains=["a.example"], blocked_domains=["b.example"]
        )
    seen = api.seen[0]
    assert (seen.method, seen.target, seen.headers["authorization"]) == ("POST", "/search", f"Bearer {KEY}")
    assert seen.json == {
        "query": "tea",
        "max_results": 10,
        "search_depth": "basic",
        "include_domains": ["a.example"],
        "exclude_domains": ["b.example"],
    }


@pytest.mark.parametrize("name", list(ANSWERS))
async def test_results_of_other_hosts_are_left_out_whatever_the_engine_gives(
    api: Api, tmp_path: Path, name: str
) -> None:
    api.replies(data(ANSWERS[name]))
    async with tools(tmp_path, engine(api, name)) as workspace:
        allowed = await workspace.good("WebSearch", query="tea", allowed_domains=["example", "b.example"])
        only = await workspace.good("WebSearch", query="tea", allowed_domains=["b.example"])
        blocked = await workspace.good("WebSearch", query="tea", blocked_domains=["a.example"])
        one = await workspace.good("WebSearch", query="tea", max_results=1)
    assert allowed["results"] == HITS
    assert only["results"] == blocked["results"] == HITS[1:]
    assert one["results"] == HITS[:1]


@pytest.mark.parametrize("name", list(ANSWERS))
@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (data({"detail": {"error": f"bad {KEY}"}}, 401), "HTTP 401"),
        (response("forbidden", 403), "HTTP 403"),
        (data({"error": "slow down"}, 429), "HTTP 429"),
        (response("<html>no json</html>"), "HTTP 200"),
        (data(["a list"]), "HTTP 200"),
        (response("{" * 50_000), "HTTP 200"),
    ],
)
async def test_what_an_engine_refuses_is_told_without_its_key(
    api: Api, tmp_path: Path, name: str, reply: bytes, told: str
) -> None:
    api.replies(reply)
    async with tools(tmp_path, engine(api, name)) as workspace:
        refused = await workspace.refused("WebSearch", query="tea")
    assert refused.startswith(f"search_failed: The search engine {name} answered with {told}")
    assert name == "searxng" or KEY not in refused  # which has none


@pytest.mark.parametrize("answer", EMPTY)
@pytest.mark.parametrize("name", list(ANSWERS))
async def test_an_answer_without_results_has_none(api: Api, tmp_path: Path, name: str, answer: Any) -> None:
    api.replies(data(answer))
    async with tools(tmp_path, engine(api, name)) as workspace:
        assert (await workspace.good("WebSearch", query="tea"))["results"] == []


async def test_without_an_engine_the_error_tells_what_to_configure(tmp_path: Path) -> None:
    async with tools(tmp_path, None) as workspace:
        result = await workspace.result("WebSearch", query="tea")
    assert result.error_code == "search_not_configured"
    for word in ("searxng", "brave", "tavily", "the model's provider searches"):
        assert word in result.user_action


def test_an_unknown_engine_is_a_problem_of_the_config(tmp_path: Path) -> None:
    from toolspan_server import load_config

    path = tmp_path / "toolspan.json"
    search = {"type": "brve", "api_key": "k"}
    path.write_text(json.dumps({"services": {"workspaces": {"w": {"path": ".", "web_search": search}}}}))
    with pytest.raises(ConfigError, match=r"unknown search engine 'brve'.*brave"):
        load_config(path)
    assert Config.model_validate({"services": {"workspaces": {"w": {"path": "."}}}}) is not None
