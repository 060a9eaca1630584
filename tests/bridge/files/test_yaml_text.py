"""What is recorded of others, as YAML."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.files.yaml_text import block

pytestmark = pytest.mark.requirement("I4.3.10")


@given(st.text(st.sampled_from("\x85\u2028\u2029\n\r\t\x0b\x1c\ufeff :#'\"-%|>a{}$")) | st.text())
def test_a_text_means_the_same_when_it_is_read(text: str) -> None:
    assert yaml.safe_load(block({"a": [text]}, 4)) == {"a": [text.replace("${", "$${")]}
