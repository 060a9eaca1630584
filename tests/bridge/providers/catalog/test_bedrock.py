"""Bedrock: an API key, or a signature for exactly the address that is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.support.event_frames import frame
from tests.support.fake_providers import FakeProvider, Received, Sent, anything, checks
from tests.support.provider_cases import ANSWERED, ask
from tests.support.streamed import streamed
from tests.support.wires import anthropic as messages_wire
from tests.support.wires import bedrock as converse_wire
from tests.support.wires import bedrock_anthropic as invoke_wire
from toolspan_bridge.errors import AuthError, ProviderError, UsageError
from toolspan_bridge.providers import resolve_model

pytestmark = pytest.mark.anyio

ACCESS, SECRET, REGION = "AKIDEXAMPLE", "wJalr/secret+key", "eu-west-3"
MODELS = [
    "us.anthropic.claude-x-20260101-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a b~c",
]
Env = Callable[..., None]


def message(*content: dict[str, Any]) -> Sent:
    return Sent(
        {
            "output": {"message": {"role": "assistant", "content": list(content)}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 11, "outputTokens": 7},
        }
    )


CALLING = message(
    {"toolUse": {"toolUseId": "call_1", "name": "config__get_weather", "input": {"location": "Paris"}}}
)


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Env:
    """Sets variables, in an environment without any AWS configuration of this machine."""
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def put(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return put


def signed_by_botocore(request: Received, url: str) -> str:
    """What botocore's own signer makes of the request that arrived, with its clock set to that request's."""
    signed_names = request.headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    again = AWSRequest(
        "POST",
        f"{url}{request.target}",
        headers={name: request.headers[name] for name in signed_names},
        data=request.content,
    )
    again.context["timestamp"] = request.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(ACCESS, SECRET), "bedrock", REGION)
    to_sign = signer.string_to_sign(again, signer.canonical_request(again))
    return str(signer.signature(to_sign, again))


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize("model", MODELS)
async def test_the_signature_holds_for_the_request_as_it_arrives(model: str, env: Env) -> None:
    env(AWS_ACCESS_KEY_ID=ACCESS, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION=REGION)
    check = checks.bedrock_signed(ACCESS, SECRET, REGION, model)
    with FakeProvider(check, [CALLING, message({"text": "22 °C"})]) as fake:
        env(AWS_ENDPOINT_URL_BEDROCK_RUNTIME=fake.url)
        first = await ask(f"bedrock/{model}")
        second = await ask(f"bedrock/{model}", messages=ANSWERED)
        for request in fake.received:
            signature = request.headers["authorization"].rpartition("Signature=")[2]
            assert signature == signed_by_botocore(request, fake.url)
    (call,) = first.message.calls
    assert (call.name, call.arguments) == ("config__get_weather", {"location": "Paris"})
    assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 7)
    assert second.message.text == "22 °C"


async def test_each_attempt_is_signed_anew(env: Env) -> None:
    env(AWS_ACCESS_KEY_ID=ACCESS, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION=REGION)
    check = checks.bedrock_signed(ACCESS, SECRET, REGION, "m")
    busy = Sent({"message": "slow down"}, status=429, headers={"x-amzn-errortype": "ThrottlingException:x"})
    with FakeProvider(check, [busy, busy, message({"text": "hi"})]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        assert (await ask("bedrock/m")).message.text == "hi"
        assert len(fake.received) == 3


async def test_a_session_token_is_signed_with_the_rest(env: Env) -> None:
    env(AWS_ACCESS_KEY_ID=ACCESS, AWS_SECRET_ACCESS_KEY=SECRET, AWS_SESSION_TOKEN="tok", AWS_REGION=REGION)
    check = checks.bedrock_signed(ACCESS, SECRET, REGION, "m", session="tok")
    with FakeProvider(check, [message({"text": "hi"})]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        await ask("bedrock/m")
    assert "x-amz-security-token" in fake.received[0].headers["authorization"]


async def test_a_profile_gives_credentials_and_region(env: Env, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(f"[profile work]\nregion = {REGION}\n", encoding="utf-8")
    keys = f"[work]\naws_access_key_id = {ACCESS}\naws_secret_access_key = {SECRET}\n"
    (tmp_path / "credentials").write_text(keys, encoding="utf-8")
    check = checks.bedrock_signed(ACCESS, SECRET, REGION, "m")
    with FakeProvider(check, [message({"text": "hi"})]) as fake:
        env(AWS_PROFILE="work", AWS_ENDPOINT_URL=fake.url)
        await ask("bedrock/m")


async def test_an_api_key_goes_before_credentials_and_needs_no_botocore(
    env: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider(checks.bedrock_token("bk-1", MODELS[1]), [message({"text": "hi"})] * 2) as fake:
        env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_ACCESS_KEY_ID=ACCESS, AWS_DEFAULT_REGION=REGION)
        env(AWS_ENDPOINT_URL="http://unused.test", AWS_ENDPOINT_URL_BEDROCK_RUNTIME=fake.url)
        await ask(f"bedrock/{MODELS[1]}")  # the fake checks requests with botocore, which it loads now
        monkeypatch.setitem(sys.modules, "botocore.session", None)
        assert (await ask(f"bedrock/{MODELS[1]}")).message.text == "hi"


@pytest.mark.requirement("I2.6.2")
async def test_without_any_credentials_no_request_is_made_and_the_variables_are_named(env: Env) -> None:
    with FakeProvider(anything, []) as fake:
        env(AWS_REGION=REGION, AWS_ENDPOINT_URL=fake.url)
        with pytest.raises(AuthError, match="AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID") as caught:
            await ask("bedrock/m")
        assert (fake.received, caught.value.exit_code) == ([], 3)


async def test_a_profile_that_is_not_there_is_an_error_of_use(env: Env) -> None:
    env(AWS_PROFILE="nobody")
    with pytest.raises(UsageError, match="nobody"):
        await ask("bedrock/m")


def test_without_botocore_the_error_names_the_extra_and_the_other_way(
    env: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    env(AWS_REGION=REGION)
    with pytest.raises(AuthError, match=r"pip install 'toolspan\[bedrock\]'.*AWS_BEARER_TOKEN_BEDROCK"):
        resolve_model("bedrock/m")


@pytest.mark.parametrize("region", ["", "evil.example/", "eu west"])
def test_without_a_plain_region_the_variable_is_named(region: str, env: Env) -> None:
    env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_REGION=region)
    with pytest.raises(UsageError, match="AWS_REGION"):
        resolve_model("bedrock/m")


async def test_a_denied_request_names_what_to_check(env: Env) -> None:
    env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_REGION=REGION)
    denied = Sent({"message": "no access"}, status=403, headers={"x-amzn-errortype": "AccessDeniedException"})
    with FakeProvider(anything, [denied]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        with pytest.raises(AuthError, match=f"no access.*AWS_BEARER_TOKEN_BEDROCK, the region {REGION}"):
            await ask("bedrock/m")


async def test_other_errors_carry_the_exceptions_name(env: Env) -> None:
    env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_REGION=REGION)
    wrong = Sent(
        {"message": "bad tool"}, status=400, headers={"x-amzn-errortype": "ValidationException:http"}
    )
    with FakeProvider(anything, [wrong]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        with pytest.raises(ProviderError, match="bedrock answered 400 ValidationException: bad tool"):
            await ask("bedrock/m", tools=())


FRAMES = {"content-type": "application/vnd.amazon.eventstream"}
WEATHER = [("call_1", "config__get_weather", {"location": "Paris"})]


@pytest.mark.requirement("I5.1.2", "I5.3.1")
@pytest.mark.parametrize("token", ["bk-1", ""])
@pytest.mark.parametrize(
    ("provider", "operation", "wire"),
    [
        ("bedrock", "converse-stream", converse_wire),
        ("bedrock-anthropic", "invoke-with-response-stream", invoke_wire),
    ],
)
async def test_an_answer_as_it_comes(provider: str, operation: str, wire: Any, token: str, env: Env) -> None:
    env(AWS_ACCESS_KEY_ID=ACCESS, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION=REGION)
    check = checks.bedrock_signed(ACCESS, SECRET, REGION, MODELS[1], operation=operation)
    if token:
        env(AWS_BEARER_TOKEN_BEDROCK=token)
        check = checks.bedrock_token(token, MODELS[1], operation)
    body = b"".join(wire.frames("I look.", WEATHER))
    with FakeProvider(check, [Sent(body, headers=FRAMES)]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        deltas, reply = await streamed(f"{provider}/{MODELS[1]}")
    assert reply.message.text == "I look." and not reply.incomplete
    assert reply.message.calls[0].arguments == {"location": "Paris"}
    assert len(deltas) > 3


@pytest.mark.requirement("I5.3.1")
async def test_claude_answers_by_invoke_as_well(env: Env) -> None:
    env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_REGION=REGION)
    check = checks.bedrock_token("bk-1", MODELS[0], "invoke")
    with FakeProvider(
        check, [Sent(messages_wire.answer("", WEATHER)), Sent(messages_wire.answer("22 °C"))]
    ) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        first = await ask(f"bedrock-anthropic/{MODELS[0]}")
        second = await ask(f"bedrock-anthropic/{MODELS[0]}", messages=ANSWERED)
    assert first.message.calls[0].name == "config__get_weather" and second.message.text == "22 °C"


@pytest.mark.requirement("I5.1.2")
async def test_an_exception_within_a_stream_leaves_what_came(env: Env) -> None:
    env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_REGION=REGION)
    broken = frame(b'{"message": "The model broke."}', exception="modelStreamErrorException")
    body = b"".join([*converse_wire.frames("It is raining in Paris.")[:4], broken])
    with FakeProvider(anything, [Sent(body, headers=FRAMES)]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        _, reply = await streamed("bedrock/m")
    assert reply.incomplete and reply.message.text == "It is raining i"
    assert "ModelStreamErrorException: The model broke." in reply.trouble


@pytest.mark.requirement("I5.1.2")
async def test_a_damaged_stream_leaves_what_came(env: Env) -> None:
    env(AWS_BEARER_TOKEN_BEDROCK="bk-1", AWS_REGION=REGION)
    frames = converse_wire.frames("It is raining in Paris.")
    damaged = frames[4][:-9] + b"x" + frames[4][-8:]
    with FakeProvider(anything, [Sent(b"".join([*frames[:4], damaged]), headers=FRAMES)]) as fake:
        env(AWS_ENDPOINT_URL=fake.url)
        _, reply = await streamed("bedrock/m")
    assert reply.incomplete and "checksum" in reply.trouble
