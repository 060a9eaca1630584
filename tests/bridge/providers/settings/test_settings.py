"""Keys and base URLs from the environment: what cannot work is refused here, and no message shows a key."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.errors import AuthError, UsageError
from toolspan_bridge.providers.settings.environment import base_url, key_from, optional_key

DEFAULT = "https://api.acme.test/v1"


@pytest.mark.requirement("I2.6.2")
def test_a_missing_key_names_every_variable_that_would_do_and_exits_with_3() -> None:
    with pytest.raises(AuthError) as caught:
        key_from("acme", "ACME_API_KEY", "ACME_KEY", where="https://acme.test/keys")
    assert caught.value.exit_code == 3
    assert "ACME_API_KEY or ACME_KEY is not set" in caught.value.message
    assert "https://acme.test/keys" in caught.value.message


def test_the_first_variable_that_is_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "")
    monkeypatch.setenv("ACME_KEY", "second")
    assert key_from("acme", "ACME_API_KEY", "ACME_KEY") == "second"


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\u00e9", "\u200b", "\t"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", f"sk-secret{end}")
    with pytest.raises(AuthError, match=r"ACME_API_KEY holds a character .* position 10") as caught:
        optional_key("ACME_API_KEY")
    assert "sk-secret" not in str(caught.value)


def test_a_base_url_loses_its_last_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_BASE_URL", "http://localhost:9000/v1/")
    assert base_url(DEFAULT, "ACME_BASE_URL") == "http://localhost:9000/v1"
    assert base_url(DEFAULT, "OTHER_BASE_URL") == DEFAULT


@pytest.mark.parametrize(
    "text",
    ["localhost:8000", "ftp://acme.test", "https://", "http://acme.test:99999", "http://a b", "nonsense"],
)
def test_a_base_url_that_is_none_names_its_variable(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_BASE_URL", text)
    with pytest.raises(UsageError, match="ACME_BASE_URL is no http or https URL"):
        base_url(DEFAULT, "ACME_BASE_URL")


@pytest.mark.parametrize("text", ["https://user:hunter2@acme.test", "https://acme.test/?key=hunter2"])
def test_a_base_url_with_a_secret_in_it_is_refused_without_being_shown(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_BASE_URL", text)
    with pytest.raises(UsageError, match="ACME_BASE_URL") as caught:
        base_url(DEFAULT, "ACME_BASE_URL")
    assert "hunter2" not in str(caught.value)


@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_whatever_a_base_url_holds_it_is_taken_or_refused(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACME_BASE_URL", text)
        with contextlib.suppress(UsageError):
            assert base_url(DEFAULT, "ACME_BASE_URL").startswith("http")
