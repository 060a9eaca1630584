"""Prompts: listed, filled in, refused, completed."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.support.document_collections import write
from toolspan_server import load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import (
    ClientAnswer,
    InputRequired,
    NullClient,
    Question,
)
from toolspan_server.errors import RequestRefused
from toolspan_server.prompts.live import Prompts

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.8", "I4.4.1")]

PROMPTS = """
resources:
  - {uri: "style://guide", name: guide, mime_type: text/markdown, text: "- Be brief."}
prompts:
  - name: review
    title: Review
    description: Look at code.
    arguments:
      - {name: code, title: Code, description: The code., required: true}
      - {name: language, values: [python, Perl, rust, cython]}
      - {name: framework, values_by: {language: {python: [flask, django], rust: [axum]}}}
    messages:
      - text: "{{ language | default('any') }}{{ framework }}: {{ code }}"
      - role: assistant
        content:
          - {type: text, text: "{{ code }}", annotations: {audience: [assistant], priority: 1}}
          - {type: image, file: dot.png}
          - {type: audio, data: UklG, mimeType: audio/wav}
          - {type: resource, uri: "style://{{ language | default('guide') }}"}
          - type: resource
            resource: {uri: "code://{{ language }}", mime_type: text/plain, text: "{{ code }}"}
          - {type: resource_link, uri: "style://guide", name: "{{ language }} guide", title: Guide}
  - name: ask
    arguments: [{name: city}]
    steps:
      - ask:
          trip:
            elicitation:
              message: "Days in {{ city }}?"
              requestedSchema: {type: object, properties: {days: {type: integer}}}
    messages: [{text: "{{ answers.trip.content.days }} days in {{ city }}"}]
"""


class Answering(NullClient):
    """A client with answers; without, it is asked by ``InputRequired``."""

    def __init__(self, **answers: ClientAnswer) -> None:
        super().__init__()
        self.answers = answers

    @override
    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        if questions.keys() - self.answers.keys():
            raise InputRequired(questions)
        return dict(self.answers)


@asynccontextmanager
async def serving(folder: Path, text: str = PROMPTS, **environ: str) -> AsyncIterator[Prompts]:
    path = folder / "toolspan.yaml"
    path.write_text(text, "utf-8")
    async with running(load_config(path, environ=environ)) as runtime:
        assert runtime.snapshot.prompts is not None
        yield runtime.snapshot.prompts


async def refusal(prompts: Prompts, name: str, **arguments: str) -> tuple[int, str]:
    with pytest.raises(RequestRefused) as refused:
        await prompts.get(name, arguments, NullClient(), LOCAL)
    return refused.value.code, refused.value.message


async def test_prompts_are_listed_in_the_configs_order_with_their_arguments(tmp_path: Path) -> None:
    async with serving(tmp_path) as prompts:
        assert prompts.listed == [
            {
                "name": "review",
                "title": "Review",
                "description": "Look at code.",
                "arguments": [
                    {"name": "code", "title": "Code", "description": "The code.", "required": True},
                    {"name": "language", "required": False},
                    {"name": "framework", "required": False},
                ],
            },
            {"name": "ask", "arguments": [{"name": "city", "required": False}]},
        ]


async def test_messages_are_filled_in_block_by_block(tmp_path: Path) -> None:
    write(tmp_path, {"dot.png": b"\x89PNG"})
    async with serving(tmp_path) as prompts:
        got = await prompts.get("review", {"code": "{{ x }} \ud800"}, NullClient(), LOCAL)
    code = "{{ x }} \\ud800"
    assert got["description"] == "Look at code."
    assert [each["role"] for each in got["messages"]] == ["user", *["assistant"] * 6]
    assert [each["content"] for each in got["messages"]] == [
        {"type": "text", "text": f"any: {code}"},
        {"type": "text", "text": code, "annotations": {"audience": ["assistant"], "priority": 1.0}},
        {"type": "image", "data": base64.b64encode(b"\x89PNG").decode(), "mimeType": "image/png"},
        {"type": "audio", "data": "UklG", "mimeType": "audio/wav"},
        {
            "type": "resource",
            "resource": {"uri": "style://guide", "mimeType": "text/markdown", "text": "- Be brief."},
        },
        {"type": "resource", "resource": {"uri": "code://", "mimeType": "text/plain", "text": code}},
        {"type": "resource_link", "uri": "style://guide", "name": " guide", "title": "Guide"},
    ]


async def test_what_cannot_be_given_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    async with serving(tmp_path) as prompts:
        assert await refusal(prompts, "nope") == (-32602, "Prompt 'nope' not found")
        assert await refusal(prompts, "review") == (-32602, "Prompt 'review' needs the arguments: 'code'")
        code, message = await refusal(prompts, "review", code="", lang="x")
        assert (code, "no argument 'lang'" in message, "language" in message) == (-32602, True, True)
        code, message = await refusal(prompts, "review", code="")
        assert (code, "not there" in message) == (-32603, True)
        write(tmp_path, {"dot.png": b""})
        code, message = await refusal(prompts, "review", code="", language="elm")
        assert (code, "embeds a resource that is not there" in message) == (-32603, True)


async def test_a_prompt_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, f"limits: {{resource_bytes: 1024}}{PROMPTS}") as prompts:
        write(tmp_path, {"dot.png": b""})
        code, message = await refusal(prompts, "review", code="é" * 600)
        assert (code, "resource_bytes" in message) == (-32603, True)
        code, message = await refusal(prompts, "review", code="x" * 2_000)
        assert (code, "1,024" in message) == (-32603, True)


async def test_a_prompt_asks_its_client_and_uses_the_answers(tmp_path: Path) -> None:
    async with serving(tmp_path) as prompts:
        with pytest.raises(InputRequired) as required:
            await prompts.get("ask", {"city": "Oslo"}, Answering(), LOCAL)
        assert required.value.questions["trip"].params["message"] == "Days in Oslo?"
        client = Answering(trip={"action": "accept", "content": {"days": 3}})
        got = await prompts.get("ask", {"city": "Oslo"}, client, LOCAL)
        assert got["messages"][0]["content"]["text"] == "3 days in Oslo"
        with pytest.raises(RequestRefused, match="was not given"):
            await prompts.get("ask", {"city": "Oslo"}, Answering(trip={"action": "decline"}), LOCAL)
        assert (await refusal(prompts, "ask", city="Oslo"))[0] == -32603


async def completed(prompts: Prompts, argument: str, typed: str, **given: str) -> Any:
    return (await prompts.complete("review", argument, typed, given, LOCAL))["values"]


async def test_arguments_are_completed_by_start_then_by_part_whatever_the_case(tmp_path: Path) -> None:
    async with serving(tmp_path) as prompts:
        assert await completed(prompts, "language", "") == ["python", "Perl", "rust", "cython"]
        assert await completed(prompts, "language", "p") == ["python", "Perl"]
        assert await completed(prompts, "language", "THON") == ["python", "cython"]
        assert await completed(prompts, "framework", "", language="python") == ["flask", "django"]
        assert await completed(prompts, "framework", "", language="go") == []
        assert await completed(prompts, "framework", "a") == ["axum", "flask", "django"]
        assert await completed(prompts, "code", "x") == []
        for name, argument in (("review", "none"), ("none", "code")):
            with pytest.raises(RequestRefused) as refused:
                await prompts.complete(name, argument, "", {}, LOCAL)
            assert refused.value.code == -32602


async def test_at_most_a_hundred_values_are_offered_and_all_are_counted(tmp_path: Path) -> None:
    write(tmp_path, {"values.json": str([f"v{n}" for n in range(250)]).replace("'", '"')})
    text = "prompts: [{name: p, arguments: [{name: a, values_from: values.json}], messages: [{text: x}]}]"
    async with serving(tmp_path, text) as prompts:
        offered = await prompts.complete("p", "a", "v", {}, LOCAL)
        assert (len(offered["values"]), offered["total"], offered["hasMore"]) == (100, 250, True)


async def test_secrets_of_the_config_are_taken_out_of_prompts(tmp_path: Path) -> None:
    text = f"state_dir: x-${{SECRET}}{PROMPTS}"
    write(tmp_path, {"dot.png": b""})
    async with serving(tmp_path, text, SECRET="hunter2!") as prompts:
        got = await prompts.get("review", {"code": "hunter2!"}, NullClient(), LOCAL)
        assert got["messages"][0]["content"]["text"] == "any: ***"
