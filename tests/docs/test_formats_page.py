"""docs/reference/formats.md says what the formats do."""

from __future__ import annotations

import pytest

from scripts.docs import formats
from toolspan_bridge.formats import format_names
from toolspan_bridge.formats.shared.loss_rules import RULES


@pytest.mark.requirement("I5.4.7", "I5.2.3")
def test_every_format_and_rule_has_its_row() -> None:
    page = formats.page()
    for name in format_names():
        media, _, families = page.partition("## Models behind Converse")[0].partition("## Reasoning, ")
        assert media.count(f"\n| `{name}` |") == 3
        assert f"\n| `{name}` |" in families
    for name, rule in RULES.items():
        assert f"\n| `{name}` | {rule.severity} | {rule.meaning}" in page
