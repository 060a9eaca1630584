"""The key of a provider is in no error of it, however the provider writes it."""

from __future__ import annotations

from base64 import b64encode
from contextlib import aclosing
from urllib.parse import quote

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires
from toolspan_bridge.errors import BridgeError
from toolspan_bridge.messages import Request, User
from toolspan_bridge.providers.catalog import anthropic
from toolspan_bridge.providers.http.settings import HttpSettings
from toolspan_bridge.providers.settings.endpoint import Endpoint

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.3.2")]

KEY = "sk-provider-secret+key/123456"
FORMS = {
    "as it is": KEY,
    "Base64": b64encode(KEY.encode()).decode(),
    "Basic": b64encode(f"user:{KEY}".encode()).decode(),
    "URL": quote(KEY, safe=""),
    "an excerpt": KEY[:20],
}


@pytest.mark.parametrize("status", [400, 401, 404])
@pytest.mark.parametrize("form", FORMS)
async def test_a_key_that_a_provider_repeats_is_taken_out(form: str, status: int) -> None:
    said = wires("anthropic").error(f"you sent {FORMS[form]}", "invalid_request_error")
    with FakeProvider(anything, [Sent(said, status=status)]) as fake:
        endpoint = Endpoint("acme", fake.url, KEY, "ACME_KEY", "check ACME_URL")
        async with aclosing(anthropic.connect_to(endpoint, HttpSettings())) as provider:
            with pytest.raises(BridgeError) as caught:
                await provider.answer(Request("m", (User("hi"),), max_tokens=9))
    assert "[key]" in caught.value.message
    assert FORMS[form][8:-8] not in caught.value.message
