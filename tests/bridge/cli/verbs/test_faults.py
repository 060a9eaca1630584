"""What ``ask`` says of a provider's error, and what a program can read of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything

pytestmark = pytest.mark.requirement("I11.2.5")


def asked(folder: Path, monkeypatch: pytest.MonkeyPatch, message: str, *options: str, **more: Any) -> Ran:
    error = {"message": message, "type": "invalid_request_error", **more}
    with FakeProvider(anything, [Sent({"error": error}, status=400)]) as fake:
        monkeypatch.setenv("VLLM_BASE_URL", f"{fake.url}/v1")
        return toolspan("ask", "-m", "vllm/m", *options, "hi", cwd=folder)


def test_an_overflow_has_both_lengths_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = (
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens."
    )
    ran = asked(tmp_path, monkeypatch, said, "--json", code="context_length_exceeded")
    assert ran.code == 1
    assert {key: value for key, value in ran.error.items() if key != "message"} == {
        "code": "provider",
        "kind": "context_overflow",
        "status": 400,
        "counted_tokens": 5000,
        "maximum_tokens": 4096,
    }
    plain = asked(tmp_path, monkeypatch, said)
    assert "(5,000 tokens, at most 4,096)" in " ".join(plain.err.split())
    assert "start a new conversation" in " ".join(plain.err.split())


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("tools param requires --jinja flag", {"kind": "no_tools"}),
        ("Unknown parameter: 'seed'.", {"kind": "parameter", "parameter": "seed"}),
        ("The seed is odd", {}),
    ],
)
def test_an_error_has_its_kind(
    said: str, known: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = asked(tmp_path, monkeypatch, said, "--json")
    assert {key: value for key, value in ran.error.items() if key != "message"} == {
        "code": "provider",
        "status": 400,
        **known,
    }
