"""What a model is shown of a tool's outcome, part by part (the table of results of every provider)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import JPEG, PDF, PNG, SVG, failed, image, part, said, succeeded
from toolspan_bridge.formats.shared.conversation.results import (
    Media,
    MediaQuota,
    MediaSupport,
    render_result,
)
from toolspan_bridge.messages import Part, ToolOutcome

pytestmark = pytest.mark.requirement("I2.6.2")

TEXT_ONLY = MediaSupport(1000)
IMAGES = frozenset({"image/png", "image/jpeg"})


def text(*parts: Part, support: MediaSupport = TEXT_ONLY, **whole: Any) -> str:
    return render_result(succeeded(*parts, **whole), support).text


def test_texts_are_joined_by_a_blank_line() -> None:
    assert text(said("one"), said("two")) == "one\n\ntwo"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (part("image", data=SVG, mimeType="image/svg+xml"), "[image/svg+xml omitted, 41 B]"),
        (part("image", data="A" * 16_000, mimeType="image/avif"), "[image/avif omitted, 12 kB]"),
        (part("audio", data="A" * 4_000_000, mimeType="audio/wav; rate=8"), "[audio/wav omitted, 3 MB]"),
        (image(), "[image/png omitted, 68 B]"),
        (image(data="!!!"), "[unreadable omitted, 2 B]"),
        (part("resource", resource={"uri": "a.txt", "text": "body"}), "[resource a.txt]\nbody"),
        (
            part("resource", resource={"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": PDF}),
            "[application/pdf file:///a.pdf omitted, 69 B]",
        ),
        (
            part("resource", resource={"uri": "", "blob": "AAAA"}),
            "[application/octet-stream omitted, 3 B]",
        ),
        (
            part("resource_link", uri="u", name="n", mimeType="text/plain", size=12_000, description="d"),
            "[resource link: u, n, text/plain, 12 kB, d]",
        ),
        (part("text", text="secret", annotations={"audience": ["user"]}), "[text for the user only]"),
        (part("text", text="both", annotations={"audience": ["user", "assistant"]}), "both"),
        (part("hologram"), "[hologram omitted, 0 B]"),
    ],
)
def test_a_part_that_cannot_be_carried_leaves_a_placeholder(data: Part, shown: str) -> None:
    assert text(data) == shown
    assert text(data) == text(data)


def test_images_are_carried_where_the_format_can() -> None:
    shown = render_result(succeeded(said("map"), image()), MediaSupport(1000, media=IMAGES))
    assert (shown.text, shown.media) == ("map", (Media("image/png", PNG),))


def test_an_image_that_follows_later_is_announced() -> None:
    assert (
        text(image(), support=MediaSupport(1000, media=IMAGES, later=IMAGES)) == "[image/png follows below]"
    )


def test_the_first_bytes_tell_the_type_not_the_server() -> None:
    shown = render_result(succeeded(image(JPEG, "image/png")), MediaSupport(1000, media=IMAGES))
    assert shown.media[0].mime == "image/jpeg"


def test_an_image_type_that_the_bytes_do_not_show_is_not_believed() -> None:
    assert (
        text(image("AAAA"), support=MediaSupport(1000, media=IMAGES))
        == "[unrecognized image/png omitted, 3 B]"
    )


def test_an_image_beyond_the_size_or_the_number_is_left_out() -> None:
    assert text(image(), support=MediaSupport(1000, media=IMAGES, max_media_bytes=67)).startswith(
        "[image/png omitted"
    )
    one = MediaSupport(1000, media=IMAGES, quota=MediaQuota({"image/": 1}))
    assert (
        render_result(succeeded(image()), one).media and not render_result(succeeded(image(JPEG)), one).media
    )


def test_structured_content_that_a_text_repeats_is_sent_once_and_compact() -> None:
    assert text(said('{ "a": [1, 2] }'), structured={"a": [1, 2]}) == '{"a":[1,2]}'


def test_structured_content_beside_another_text_is_sent_too() -> None:
    assert text(said("see:"), structured={"a": 1}) == 'see:\n\n{"a":1}'


@pytest.mark.parametrize(("words", "value"), [("hello", "hello"), ("4", 4), ("[1]", [1]), ("null", None)])
def test_a_value_that_is_only_wrapped_for_the_protocol_is_sent_as_its_text(words: str, value: Any) -> None:
    shown = render_result(
        succeeded(said(words), structured={"result": value}), MediaSupport(1000, structured="any")
    )
    assert (shown.text, shown.structured) == (words, None)


@pytest.mark.parametrize(
    ("kind", "value", "apart"),
    [("none", {}, False), ("object", {}, True), ("object", [], False), ("any", [], True), ("any", 0, True)],
)
def test_structured_content_stands_apart_where_the_format_can(kind: Any, value: Any, apart: bool) -> None:
    shown = render_result(succeeded(structured=value), MediaSupport(1000, structured=kind))
    assert (shown.structured == value and shown.structured is not None) is apart
    assert (shown.text == "") is apart


@pytest.mark.parametrize(
    ("outcome", "marked"),
    [
        (succeeded(), "(no output)"),
        (succeeded(result=None), "(no output)"),
        (succeeded(result="4"), "4"),
        (succeeded(result={"a": None}), '{"a":null}'),
        (succeeded(said("")), "(no output)"),
        (failed(said("boom")), "[tool error] boom"),
        (failed(error="No such file.", action="Name one"), "[tool error] No such file. Name one"),
        (failed(error=""), "[tool error] (no output)"),
    ],
)
def test_text_for_formats_without_a_flag(outcome: ToolOutcome, marked: str) -> None:
    assert render_result(outcome, TEXT_ONLY).text_with_error_mark == marked


def test_a_long_text_is_cut_between_characters_and_says_how_much() -> None:
    cut = text(said("é" * 10), support=MediaSupport(5))
    assert cut == "éé\n[cut here: the first 4 of 20 bytes; max_result_bytes is 5]"


def test_structured_content_beyond_the_limit_is_cut_as_text() -> None:
    shown = render_result(succeeded(structured={"a": "x" * 50}), MediaSupport(10, structured="any"))
    assert shown.structured is None and "[cut here" in shown.text


def test_values_nested_without_end_are_not_written_out() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    assert "nested deeper than 64" in text(structured=deep)
    assert "nested deeper than 64" in text(result=deep)
