"""Resources, prompts, completions and skills on the wire, in both eras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.document_collections import write
from tests.support.served import INITIALIZE, INITIALIZED, MODERN_META
from tests.support.two_ways import served
from toolspan_server import load_config, running
from toolspan_server.live.views import ServerView

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.8", "I4.4.1")]

CONFIG = """
limits: {page_size: 2}
resources:
  - {uri: "test://a", name: a, text: A}
  - {uri: "test://b", name: b, file: b.txt}
  - {uri: "test://c", name: c, text: C}
resource_templates:
  - {uri_template: "test://made/{id}", name: made, variables: {id: {values: [one, two]}}, text: "{{ id }}"}
prompts:
  - name: review
    arguments: [{name: code, required: true, values: [x, y]}]
    messages: [{text: "Review {{ code }}"}]
  - name: trip
    steps: [{ask: {days: {elicitation: {message: "Days?"}}}}]
    messages: [{text: "{{ answers.days.content.n }} days"}]
skills: skills
"""
SKILL = "---\nname: sum\ndescription: Sums.\n---\n"


def request(number: int, method: str, modern: bool, **params: Any) -> dict[str, Any]:
    meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    inside = {**params, "_meta": meta} if modern else params
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": inside}


async def answers(
    folder: Path, *requests: tuple[str, dict[str, Any]], modern: bool, config: str = CONFIG
) -> list[dict[str, Any]]:
    """What the server on stdio says to ``requests``, (method, params) each."""
    path = folder / "toolspan.yaml"
    path.write_text(config)
    messages = [request(at, method, modern, **params) for at, (method, params) in enumerate(requests)]
    first = [] if modern else [INITIALIZE, INITIALIZED]
    async with running(load_config(path)) as runtime:
        said = await served(ServerView(runtime), *first, *messages)
    by_id = {answer.get("id"): answer for answer in said}
    return [by_id[at] for at in range(len(requests))]


@pytest.mark.parametrize("modern", [False, True])
async def test_everything_that_a_config_offers_is_listed_page_by_page(tmp_path: Path, modern: bool) -> None:
    write(tmp_path, {"b.txt": "B", "skills/sum/SKILL.md": SKILL})
    first, templates, prompts, skills = await answers(
        tmp_path,
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("prompts/list", {}),
        ("skills/list", {}),
        modern=modern,
    )
    assert [each["uri"] for each in first["result"]["resources"]] == ["test://a", "test://b"]
    assert [each["uriTemplate"] for each in templates["result"]["resourceTemplates"]] == ["test://made/{id}"]
    assert [each["name"] for each in prompts["result"]["prompts"]] == ["review", "trip"]
    assert [each["uri"] for each in skills["result"]["skills"]] == ["skill://sum/SKILL.md"]
    assert all(("ttlMs" in each["result"]) == modern for each in (first, templates, prompts, skills))
    cursor = first["result"]["nextCursor"]
    rest, wrong = await answers(
        tmp_path, ("resources/list", {"cursor": cursor}), ("prompts/list", {"cursor": "?"}), modern=modern
    )
    assert [each["uri"] for each in rest["result"]["resources"]] == ["test://c", "skill://sum/SKILL.md"]
    assert wrong["error"]["code"] == -32602


@pytest.mark.parametrize("modern", [False, True])
async def test_resources_are_read_and_those_that_are_not_there_have_the_revisions_code(
    tmp_path: Path, modern: bool
) -> None:
    write(tmp_path, {"b.txt": "B", "skills/sum/SKILL.md": SKILL})
    uris = ("test://b", "test://made/7", "skill://sum/SKILL.md", "test://none")
    *read, missing = await answers(
        tmp_path, *(("resources/read", {"uri": uri}) for uri in uris), modern=modern
    )
    assert [each["result"]["contents"][0]["text"] for each in read] == ["B", "7", SKILL]
    code = -32602 if modern else -32002
    assert missing["error"] == {"code": code, "message": "Resource not found", "data": {"uri": "test://none"}}


@pytest.mark.parametrize("modern", [False, True])
async def test_prompts_are_given_refused_and_completed(tmp_path: Path, modern: bool) -> None:
    got, missing, unknown, completed, made, none = await answers(
        tmp_path,
        ("prompts/get", {"name": "review", "arguments": {"code": "x = 1"}}),
        ("prompts/get", {"name": "review"}),
        ("prompts/get", {"name": "nope"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "code", "value": ""}},
        ),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "test://made/{id}"},
                "argument": {"name": "id", "value": "O"},
            },
        ),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "code", "value": ""}},
        ),
        modern=modern,
    )
    assert got["result"]["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Review x = 1"}}
    ]
    assert (missing["error"]["code"], "'code'" in missing["error"]["message"]) == (-32602, True)
    assert (unknown["error"]["code"], "'nope'" in unknown["error"]["message"]) == (-32602, True)
    assert completed["result"]["completion"] == {"values": ["x", "y"], "total": 2, "hasMore": False}
    assert made["result"]["completion"]["values"] == ["one", "two"]
    assert none["error"]["code"] == -32602


async def test_a_prompt_that_asks_answers_with_its_questions_then_with_its_messages(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.yaml"
    path.write_text(CONFIG)
    async with running(load_config(path)) as runtime:
        view = ServerView(runtime)
        (asked,) = await served(view, request(1, "prompts/get", True, name="trip"))
        assert asked["result"]["resultType"] == "input_required"
        assert asked["result"]["inputRequests"]["days"]["params"]["message"] == "Days?"
        again = {
            "inputResponses": {"days": {"action": "accept", "content": {"n": 4}}},
            "requestState": asked["result"]["requestState"],
        }
        (given,) = await served(view, request(2, "prompts/get", True, name="trip", **again))
    assert given["result"]["messages"][0]["content"]["text"] == "4 days"
    assert given["result"]["resultType"] == "complete"


async def test_only_what_a_config_has_is_announced_and_answered(tmp_path: Path) -> None:
    discovered, listed = await answers(
        tmp_path, ("server/discover", {}), ("prompts/list", {}), modern=True, config="name: plain"
    )
    assert not {"resources", "prompts", "completions"} & discovered["result"]["capabilities"].keys()
    assert listed["error"]["code"] == -32601
    (whole,) = await answers(tmp_path, ("server/discover", {}), modern=True)
    known = whole["result"]["capabilities"]
    assert known["resources"] == {"subscribe": True, "listChanged": True}
    assert (known["prompts"], known["completions"]) == ({"listChanged": True}, {})
    assert known["extensions"]["io.modelcontextprotocol/skills"] == {"directoryRead": True}


async def test_folders_of_skills_are_looked_into(tmp_path: Path) -> None:
    write(tmp_path, {"skills/sum/SKILL.md": SKILL, "skills/sum/more/a.md": ""})
    folder, nothing, skill, unknown = await answers(
        tmp_path,
        ("resources/directory/read", {"uri": "skill://sum"}),
        ("resources/directory/read", {"uri": "skill://sum/SKILL.md"}),
        ("skills/get", {"uri": "skill://sum/SKILL.md"}),
        ("skills/get", {"uri": "skill://none/SKILL.md"}),
        modern=True,
    )
    assert [each["name"] for each in folder["result"]["resources"]] == ["SKILL.md", "more"]
    assert skill["result"]["skill"]["frontmatter"]["name"] == "sum"
    assert [each["error"]["code"] for each in (nothing, unknown)] == [-32602, -32602]
