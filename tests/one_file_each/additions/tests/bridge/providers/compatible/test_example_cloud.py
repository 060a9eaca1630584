"""Example Cloud."""

from __future__ import annotations

import pytest

from toolspan_bridge.providers import resolve_model


def test_a_model_of_it_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_CLOUD_API_KEY", "key")
    provider, model = resolve_model("example-cloud/large:free")
    assert (provider.name, provider.format_name, model) == ("example-cloud", "openai", "large:free")
