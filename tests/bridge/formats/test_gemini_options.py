"""How Gemini is asked to answer, by model: effort, the schema of the answer, tools of Google's, sources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.provider_rules.gemini import check_request
from tests.support.wires.gemini import answer, event, signed
from toolspan_bridge.formats import builtin_names, gemini, takes_answer_schema
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Citation, Request, ToolSpec, User

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": 1}}}


def request(model: str, **fields: Any) -> Request:
    return Request(**{"model": model, "messages": (User("hi"),), **fields})


def rendered(model: str, **fields: Any) -> dict[str, Any]:
    asked = request(model, **fields)
    body = gemini.render_request(asked, NameTable.of(asked.tools))
    check_request(body, model)
    return body


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("model", "none", "low", "medium", "high"),
    [
        ("gemini-3-pro-preview", "LOW", "LOW", "HIGH", "HIGH"),
        ("gemini-3.1-pro", "LOW", "LOW", "MEDIUM", "HIGH"),
        ("gemini-3-flash-preview", "MINIMAL", "LOW", "MEDIUM", "HIGH"),
        ("gemini-2.5-pro", 128, 1024, 8192, 32_768),
        ("gemini-2.5-flash-lite", 0, 1024, 8192, 24_576),
    ],
)
def test_the_effort_is_a_level_or_a_budget(model: str, none: Any, low: Any, medium: Any, high: Any) -> None:
    assert "generationConfig" not in rendered(model)
    key = "thinkingBudget" if isinstance(low, int) else "thinkingLevel"
    for effort, expected in (("none", none), ("low", low), ("medium", medium), ("high", high)):
        config = rendered(model, reasoning=effort)["generationConfig"]["thinkingConfig"]
        shown = {} if effort == "none" else {"includeThoughts": True}
        assert config == {key: expected, **shown}


@pytest.mark.requirement("I11.3.1")
def test_thoughts_leave_half_of_the_limit_to_the_answer() -> None:
    config = rendered("gemini-2.5-flash", reasoning="high", max_tokens=4000)["generationConfig"]
    assert config["thinkingConfig"]["thinkingBudget"] == 2000
    assert rendered("gemini-2.5-flash", reasoning="none", max_tokens=100)["generationConfig"] == {
        "maxOutputTokens": 100,
        "thinkingConfig": {"thinkingBudget": 0},
    }


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("model", "effort", "note"),
    [
        ("gemini-2.0-flash", "low", "gemini-2.0-flash takes no effort of reasoning: 'low' is left out"),
        (
            "gemini-flash-latest",
            "high",
            "gemini-flash-latest takes no effort of reasoning: 'high' is left out",
        ),
        (
            "gemini-2.5-flash-image",
            "low",
            "gemini-2.5-flash-image takes no effort of reasoning: 'low' is left",
        ),
        ("gemini-2.5-pro", "none", "gemini-2.5-pro always thinks: its effort is the lowest"),
        ("gemini-2.0-flash", "none", ""),
        ("gemini-2.5-flash", "none", ""),
        ("gemini-3-flash", "high", ""),
    ],
)
def test_an_effort_that_a_model_does_not_take_is_told_of(model: str, effort: Any, note: str) -> None:
    notes = gemini.request_notes(request(model, reasoning=effort))
    assert [each[: len(note)] for each in notes] == ([note] if note else [])
    if "takes no" in note:
        assert "generationConfig" not in rendered(model, reasoning=effort)


@pytest.mark.requirement("I11.3.4")
def test_the_schema_of_the_answer_is_sent_in_gemini_s_keywords() -> None:
    config = rendered("gemini-2.5-flash", answer_schema=SCHEMA)["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["properties"] == {"a": {"type": "integer", "minimum": 2}}


@pytest.mark.requirement("I11.3.4")
@pytest.mark.parametrize(
    ("model", "fields", "taken"),
    [
        ("gemini-2.5-flash", {}, True),
        ("gemini-2.5-flash", {"tools": (TOOL,)}, False),
        ("gemini-2.5-flash", {"builtins": ("web_search",)}, False),
        ("gemini-3-pro", {"tools": (TOOL,)}, True),
        ("gemini-flash-latest", {}, True),
        ("gemini-flash-latest", {"tools": (TOOL,)}, False),
        ("gemini-1.5-pro", {}, False),
        ("gemini-3-pro", {"answer_schema": {"type": "array", "items": {}}}, False),
        ("gemini-3-pro", {"answer_schema": {"type": "object", "oneOf": [{}]}}, False),
        ("gemini-3-pro", {"answer_schema": {"type": "object", "properties": 1}}, False),
        ("gemini-3-pro", {"answer_schema": {"type": "object", "properties": {"a-b": {}}}}, False),
    ],
)
def test_a_schema_is_sent_where_model_and_tools_let_it(
    model: str, fields: dict[str, Any], taken: bool
) -> None:
    fields = {"answer_schema": SCHEMA, **fields}
    assert takes_answer_schema("gemini", request(model, **fields)) is taken
    assert ("responseJsonSchema" in rendered(model, **fields).get("generationConfig", {})) is taken


@pytest.mark.requirement("I11.3.4")
@pytest.mark.parametrize(
    ("model", "strict", "mode"),
    [
        ("gemini-3-pro", True, "VALIDATED"),
        ("gemini-2.5-flash", True, "VALIDATED"),
        ("gemini-3-pro", False, "AUTO"),
        ("gemini-2.0-flash", True, "AUTO"),
        ("gemini-flash-latest", True, "AUTO"),
    ],
)
def test_calls_of_strict_tools_are_validated_where_the_model_knows_that(
    model: str, strict: bool, mode: str
) -> None:
    tool = ToolSpec("s", "t", "d", {"type": "object"}, strict=strict)
    assert rendered(model, tools=(tool,))["toolConfig"]["functionCallingConfig"] == {"mode": mode}
    forced = rendered(model, tools=(tool,), tool_choice="required")
    assert forced["toolConfig"]["functionCallingConfig"] == {"mode": "ANY"}


@pytest.mark.requirement("I11.3.5")
def test_google_s_own_tools_are_sent_to_the_models_that_have_them() -> None:
    every = tuple(sorted(builtin_names("gemini")))
    assert every == ("code_execution", "web_fetch", "web_search")
    assert rendered("gemini-3-pro", builtins=every)["tools"] == [
        {"codeExecution": {}},
        {"urlContext": {}},
        {"googleSearch": {}},
    ]
    assert rendered("gemini-2.0-flash", builtins=every)["tools"] == [
        {"codeExecution": {}},
        {"googleSearch": {}},
    ]
    assert "tools" not in rendered("gemini-1.5-pro", builtins=every)
    mixed = rendered("gemini-3-pro", builtins=("web_fetch",), tools=(TOOL,))
    assert mixed["tools"][1:] == [{"urlContext": {}}]


@pytest.mark.requirement("I11.3.5")
def test_tools_and_options_that_google_does_not_have_are_told_of() -> None:
    asked = request(
        "gemini-2.0-flash",
        builtins=("web_fetch", "web_search"),
        builtin_options={"web_search": {"allowed_domains": ["a.org"]}},
    )
    assert gemini.request_notes(asked) == (
        "gemini-2.0-flash has no web_fetch of its own: it is left out",
        "Google's web_search takes no allowed_domains (Gemini's API): left out",
    )


TIMES = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z"}
RANGE = {"startTime": "2026-01-01T00:00:00Z", "endTime": "2026-02-01T00:00:00Z"}
SETTINGS = {**TIMES, "latitude": 59.9, "longitude": 10, "language": "no"}
PLACE = {"latLng": {"latitude": 59.9, "longitude": 10}, "languageCode": "no"}


@pytest.mark.requirement("I11.3.22")
@pytest.mark.parametrize("beside", [(), (TOOL,)], ids=["alone", "beside a tool"])
def test_a_search_has_a_time_and_the_user_a_place_and_a_language(beside: tuple[ToolSpec, ...]) -> None:
    options: dict[str, Any] = {
        "builtins": ("web_search",),
        "builtin_options": {"web_search": SETTINGS},
        "tools": beside,
    }
    body = rendered("gemini-3-pro", **options)
    assert body["tools"][-1] == {"googleSearch": {"timeRangeFilter": RANGE}}
    assert body["toolConfig"]["retrievalConfig"] == PLACE
    assert ("functionCallingConfig" in body["toolConfig"]) is bool(beside)
    assert gemini.request_notes(request("gemini-3-pro", **options)) == ()
    old = rendered("gemini-2.5-pro", **options)
    assert ("retrievalConfig" in old["toolConfig"]) is not bool(beside)


@pytest.mark.requirement("I11.3.22")
@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"start_time": TIMES["start_time"]}, "start_time and end_time together: start_time is left out"),
        ({"longitude": 10.0}, "latitude and longitude together: longitude is left out"),
        ({"user_location": {"city": "Oslo"}}, "no city (Gemini's API): left out"),
        (
            {"blocked_domains": ["a.org"], "max_uses": 1},
            "no blocked_domains, max_uses (Gemini's API): left out",
        ),
    ],
)
def test_half_a_setting_or_one_that_google_lacks_is_left_out_and_said(
    settings: dict[str, Any], note: str
) -> None:
    options: dict[str, Any] = {"builtins": ("web_search",), "builtin_options": {"web_search": settings}}
    body = rendered("gemini-3-pro", **options)
    assert body["tools"] == [{"googleSearch": {}}] and "toolConfig" not in body
    assert gemini.request_notes(request("gemini-3-pro", **options)) == (f"Google's web_search takes {note}",)


GROUNDED = signed({"text": "Größe: 7 m."}, {"text": " Hm.", "thought": True}, {"text": " It snows."})
GROUNDED["candidates"][0] |= {
    "groundingMetadata": {
        "groundingChunks": [
            {"web": {"uri": "https://a.org", "title": "A"}},
            {"web": {"uri": "https://b.org", "title": "B"}},
            {"web": {"title": "no address"}},
        ],
        "groundingSupports": [
            {
                "segment": {"startIndex": 0, "endIndex": 13, "text": "Größe: 7 m."},
                "groundingChunkIndices": [0, 1, 2, 9],
            },
            {
                "segment": {"startIndex": 1, "endIndex": 10, "text": "It snows.", "partIndex": 2},
                "groundingChunkIndices": [1],
            },
            {"segment": {"endIndex": 90, "text": "nowhere"}, "groundingChunkIndices": [0]},
        ],
    }
}


@pytest.mark.requirement("I11.3.5")
def test_sources_are_placed_in_characters_of_the_answer() -> None:
    message = gemini.parse_reply(GROUNDED).message
    assert message.citations == (
        Citation("https://a.org", "A", 0, 11),
        Citation("https://b.org", "B", 0, 11),
        Citation("https://b.org", "B", 12, 21),
        Citation("https://a.org", "A"),
    )
    assert message.text[12:21] == "It snows."


@pytest.mark.requirement("I11.3.5")
def test_sources_of_a_stream_are_the_same() -> None:
    candidate = GROUNDED["candidates"][0]
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
        for part in candidate["content"]["parts"]
    ]
    last = {"candidates": [{key: value for key, value in candidate.items() if key != "content"}]}
    parser = gemini.parse_stream()
    for chunk in (*chunks, last):
        parser.feed(event(chunk))
    assert parser.end().message.citations == gemini.parse_reply(GROUNDED).message.citations


@pytest.mark.requirement("I11.3.5")
def test_sources_without_a_place_and_recited_ones_are_kept() -> None:
    body = answer("As they say: to be.")
    body["candidates"][0] |= {
        "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.org", "title": "A"}}]},
        "citationMetadata": {"citationSources": [{"startIndex": 13, "endIndex": 19, "uri": "https://b.org"}]},
    }
    assert gemini.parse_reply(body).message.citations == (
        Citation("https://a.org", "A"),
        Citation("https://b.org", "", 13, 19),
    )


READ = [
    {"retrievedUrl": "https://a.org/x", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
    {"retrievedUrl": "https://b.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
    {"retrievedUrl": "https://paid.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_PAYWALL"},
]


@pytest.mark.requirement("I11.3.5")
def test_pages_that_url_context_read_are_sources_unless_they_are_cited_already() -> None:
    body = answer("They differ.")
    body["candidates"][0] |= {
        "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://b.org", "title": "B"}}]},
        "urlContextMetadata": {"urlMetadata": READ},
    }
    assert gemini.parse_reply(body).message.citations == (
        Citation("https://b.org", "B"),
        Citation("https://a.org/x"),
    )


@pytest.mark.requirement("I11.3.5")
def test_pages_that_come_in_several_parts_of_a_stream_are_all_sources() -> None:
    parser = gemini.parse_stream()
    for page in (READ[0], READ[0], READ[1]):
        candidate = {"urlContextMetadata": {"urlMetadata": [page]}, "content": {"parts": [{"text": "Hm."}]}}
        parser.feed(event({"candidates": [candidate]}))
    parser.feed(event({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {}}))
    found = parser.end().message
    assert found.citations == (Citation("https://a.org/x"), Citation("https://b.org"))
