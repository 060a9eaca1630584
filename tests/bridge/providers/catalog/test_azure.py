"""Azure OpenAI: a deployment at an endpoint of one's own."""

from __future__ import annotations

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import ask
from toolspan_bridge.errors import AuthError, UnknownModelError, UsageError
from toolspan_bridge.providers import resolve_model

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.1")]

KEY = "azure-key-0123456789"
SAID = Sent({"choices": [{"message": {"role": "assistant", "content": "22 °C"}, "finish_reason": "stop"}]})


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    return monkeypatch


async def test_a_deployment_is_asked_by_its_path_the_api_version_and_the_api_key_header(
    azure: pytest.MonkeyPatch,
) -> None:
    check = checks.azure(KEY, "my%20gpt", version="2024-10-21")
    with FakeProvider(check, [SAID]) as fake:
        azure.setenv("AZURE_OPENAI_ENDPOINT", f"{fake.url}/")
        assert (await ask("azure/my gpt", max_tokens=9)).message.text == "22 °C"


async def test_the_api_version_and_an_entra_token_come_from_the_environment(
    azure: pytest.MonkeyPatch,
) -> None:
    azure.setenv("AZURE_OPENAI_AD_TOKEN", "entra")
    azure.setenv("OPENAI_API_VERSION", "2025-04-01-preview")
    check = checks.azure("Bearer entra", "d", version="2025-04-01-preview", header="authorization")
    with FakeProvider(check, [SAID]) as fake:
        azure.setenv("AZURE_OPENAI_ENDPOINT", fake.url)
        await ask("azure/d")


async def test_an_unknown_deployment_is_told_as_one(azure: pytest.MonkeyPatch) -> None:
    missing = Sent({"error": {"code": "DeploymentNotFound", "message": f"no such; {KEY}"}}, status=404)
    with FakeProvider(anything, [missing]) as fake:
        azure.setenv("AZURE_OPENAI_ENDPOINT", fake.url)
        with pytest.raises(UnknownModelError, match="that of your deployment") as caught:
            await ask("azure/gpt-5")
    assert KEY not in caught.value.message


def test_what_is_missing_is_named(azure: pytest.MonkeyPatch) -> None:
    azure.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(UsageError, match="set AZURE_OPENAI_ENDPOINT"):
        resolve_model("azure/d")
    azure.setenv("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com")
    azure.setenv("AZURE_OPENAI_API_VERSION", "v1&x=y")
    with pytest.raises(UsageError, match="AZURE_OPENAI_API_VERSION is no API version"):
        resolve_model("azure/d")
    azure.delenv("AZURE_OPENAI_API_KEY")
    with pytest.raises(AuthError, match="AZURE_OPENAI_API_KEY is not set"):
        resolve_model("azure/d")
