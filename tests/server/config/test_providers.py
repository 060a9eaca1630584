"""``providers``: services that answer for models, beside the known ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.configs import load, problems

pytestmark = pytest.mark.requirement("I5.3.1")


def test_a_provider_is_read_with_its_key_from_a_variable_and_never_shown(tmp_path: Path) -> None:
    mine = "{base_url: 'http://box:8000/v1/', api_key: '${KEY}', headers: {X-Pass: '${PASS}'}}"
    config = load(
        tmp_path, f"providers: {{mine: {mine}}}", environ={"KEY": "sk-0123456789", "PASS": "pass-0123456789"}
    )
    read = config.providers["mine"]
    assert (read.base_url, read.format, read.api_key) == ("http://box:8000/v1", "openai", "sk-0123456789")
    assert (read.key_env, read.max_tokens_field, read.replaces) == (None, None, False)
    shown = f"{config!r} {read!r} {read}"
    assert "sk-0123456789" not in shown and "pass-0123456789" not in shown


@pytest.mark.parametrize(
    ("provider", "path", "said"),
    [
        ("{}", "$.providers.mine", "'base_url' is missing"),
        ("{base_url: 'ftp://x'}", "$.providers.mine.base_url", "is not an http or https URL"),
        ("{base_url: 'http://u:p@x'}", "$.providers.mine.base_url", "only scheme, host, port and path"),
        ("{base_url: 'http://x?key=1'}", "$.providers.mine.base_url", "only scheme, host, port and path"),
        ("{base_url: 'http://x', format: bedrock}", "$.providers.mine.format", "must be"),
        ("{base_url: 'http://x', key_env: A-B}", "$.providers.mine.key_env", "does not match"),
        ("{base_url: 'http://x', api_key: k, key_env: K}", "$.providers.mine.key_env", "both an api_key and"),
        (
            "{base_url: 'http://x', headers: {'a b': c}}",
            '$.providers.mine.headers["a b"]',
            "cannot be a header",
        ),
        (
            "{base_url: 'http://x', format: ollama, max_tokens_field: max_tokens}",
            "$.providers.mine.max_tokens_field",
            "the format is ollama",
        ),
        ("{base_url: 'http://x', base_ulr: 1}", "$.providers.mine.base_ulr", "unknown key"),
    ],
)
def test_what_is_wrong_with_a_provider_is_told_at_its_place(
    provider: str, path: str, said: str, tmp_path: Path
) -> None:
    (found,) = problems(tmp_path, f"providers: {{mine: {provider}}}")
    assert (found.path, said in found.message) == (path, True), found


@pytest.mark.parametrize("name", ["Mine", "a/b", "'a:b'", "''", "-a"])
def test_a_name_is_what_can_stand_before_the_slash(name: str, tmp_path: Path) -> None:
    assert problems(tmp_path, f"providers: {{{name}: {{base_url: 'http://x'}}}}")
