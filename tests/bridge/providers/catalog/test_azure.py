"""Azure OpenAI: a deployment at an endpoint of one's own."""

from __future__ import annotations

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import ask
from tests.support.wires.openai_responses import answer
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


@pytest.mark.requirement("I11.1.14")
async def test_a_deployment_is_asked_by_the_v1_api_without_an_api_version(azure: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.azure_v1(KEY, "chat/completions"), [SAID] * 3) as fake:
        for address in ("", "/", "/openai/v1/"):
            azure.setenv("AZURE_OPENAI_ENDPOINT", f"{fake.url}{address}")
            assert (await ask("azure/my gpt", max_tokens=9)).message.text == "22 °C"
    assert fake.received[0].body["model"] == "my gpt"


@pytest.mark.requirement("I11.1.14")
@pytest.mark.parametrize("token", ["", "entra"])
async def test_a_deployment_named_after_a_model_that_thinks_is_asked_by_responses(
    token: str, azure: pytest.MonkeyPatch
) -> None:
    azure.setenv("AZURE_OPENAI_AD_TOKEN", token)
    key, header = (f"Bearer {token}", "authorization") if token else (KEY, "api-key")
    with FakeProvider(checks.azure_v1(key, "responses", header=header), [Sent(answer("22 °C"))]) as fake:
        azure.setenv("AZURE_OPENAI_ENDPOINT", fake.url)
        assert (await ask("azure/gpt-5.5")).message.text == "22 °C"


CODEX = "The chatCompletion operation does not work with the specified model, gpt-5.1-codex."
NO_PATH = {"error": {"code": "404", "message": "Resource not found"}}


@pytest.mark.requirement("I11.1.14")
@pytest.mark.parametrize(
    ("model", "refusal", "said", "paths"),
    [
        (
            "coder",
            Sent({"error": {"code": "OperationNotSupported", "message": CODEX}}, status=400),
            Sent(answer("22 °C")),
            ["completions", "responses"],
        ),
        ("gpt-5", Sent(NO_PATH, status=404), SAID, ["responses", "completions"]),
    ],
)
async def test_a_deployment_that_refuses_one_format_is_asked_by_the_other(
    model: str, refusal: Sent, said: Sent, paths: list[str], azure: pytest.MonkeyPatch
) -> None:
    with FakeProvider(anything, [refusal, said]) as fake:
        azure.setenv("AZURE_OPENAI_ENDPOINT", fake.url)
        assert (await ask(f"azure/{model}")).message.text == "22 °C"
    assert [request.target.rpartition("/")[2] for request in fake.received] == paths


@pytest.mark.requirement("I11.1.14")
async def test_an_api_version_and_an_entra_token_come_from_the_environment_and_lead_to_the_deployments_path(
    azure: pytest.MonkeyPatch,
) -> None:
    azure.setenv("AZURE_OPENAI_AD_TOKEN", "entra")
    for name in ("OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"):
        azure.setenv(name, "2025-04-01-preview")
        check = checks.azure("Bearer entra", "my%20d", version="2025-04-01-preview", header="authorization")
        with FakeProvider(check, [SAID]) as fake:
            azure.setenv("AZURE_OPENAI_ENDPOINT", fake.url)
            await ask("azure/my d")


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
