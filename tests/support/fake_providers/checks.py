"""What each provider refuses of a request: its address, its headers, and by ``provider_rules`` its body."""

from __future__ import annotations

import hashlib
import hmac
import re
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.support import official_types
from tests.support.fake_providers import Received
from tests.support.provider_rules import anthropic as anthropic_rules
from tests.support.provider_rules import bedrock as bedrock_rules
from tests.support.provider_rules import bedrock_anthropic as bedrock_anthropic_rules
from tests.support.provider_rules import gemini as gemini_rules
from tests.support.provider_rules import ollama as ollama_rules
from tests.support.provider_rules import openai as openai_rules
from tests.support.provider_rules import openai_responses as responses_rules
from tests.support.provider_rules import prompt as prompt_rules
from tests.support.provider_rules.chat_rows import rules_of

Check = Callable[[Received], str]


def openai(
    key: str,
    *,
    path: str = "/v1/chat/completions",
    limit: str = "max_completion_tokens",
    row: str = "openai",
) -> Check:
    """Chat Completions with a bearer ``key`` (``""``: none may be sent), as the provider ``row`` takes it."""

    def check(request: Received) -> str:
        body = {
            ("max_completion_tokens" if name == limit else name): each for name, each in request.body.items()
        }
        return _first(
            _posted_json(request, path),
            _header(request, "authorization", f"Bearer {key}" if key else None),
            obeys(lambda each: openai_rules.check_request(each, rules_of(row)), body),
            obeys(official_types.check_mistral, request.body) if row == "mistral" else "",
        )

    return check


def azure(key: str, deployment: str, *, version: str, header: str = "api-key") -> Check:
    """Chat Completions of a deployment, with a ``key`` in ``header``."""

    def check(request: Received) -> str:
        path = f"/openai/deployments/{deployment}/chat/completions?api-version={version}"
        both = {"api-key", "authorization"} <= request.headers.keys()
        return _first(
            _posted_json(request, path),
            "two keys were sent" if both else "",
            _header(request, header, key),
            obeys(openai_rules.check_request, request.body),
        )

    return check


def azure_v1(key: str, api: str, *, header: str = "api-key") -> Check:
    """The v1 API, ``chat/completions`` or ``responses``: it takes no API version, and the deployment is the
    model."""
    rules = responses_rules if api == "responses" else openai_rules

    def check(request: Received) -> str:
        both = {"api-key", "authorization"} <= request.headers.keys()
        return _first(
            _posted_json(request, f"/openai/v1/{api}"),
            "two keys were sent" if both else "",
            _header(request, header, key),
            obeys(rules.check_request, request.body),
        )

    return check


def prompted(key: str, *, path: str = "/v1/chat/completions") -> Check:
    """Chat Completions without tools: they are told of in the system prompt."""

    def check(request: Received) -> str:
        return _first(
            _posted_json(request, path),
            _header(request, "authorization", f"Bearer {key}"),
            obeys(lambda body: prompt_rules.check_request(body, rules_of("openai")), request.body),
        )

    return check


def ollama(key: str = "", *, path: str = "") -> Check:
    """``/api/show`` and ``/api/chat``; the latter must switch silent dropping off."""

    def check(request: Received) -> str:
        body = request.body
        key_problem = _header(request, "authorization", f"Bearer {key}" if key else None)
        if request.target == f"{path}/api/show":
            return key_problem or ("" if body.keys() == {"model"} else f"show takes a model, not {body}")
        if (body.pop("truncate", True), body.pop("shift", True)) != (False, False):
            return "truncate or shift is not off"
        return _first(
            _posted_json(request, f"{path}/api/chat"), key_problem, obeys(ollama_rules.check_request, body)
        )

    return check


def responses(key: str, *, path: str = "/v1/responses") -> Check:
    """OpenAI Responses with a bearer ``key``."""

    def check(request: Received) -> str:
        return _first(
            _posted_json(request, path),
            _header(request, "authorization", f"Bearer {key}"),
            obeys(responses_rules.check_request, request.body),
        )

    return check


def vertex(token: str, place: str, model: str, *, method: str = "generateContent") -> Check:
    """Gemini at ``place`` (``projects/P/locations/L``) of Vertex AI, which does not know the switch for mixed
    tools; older models know no ids."""

    def check(request: Received) -> str:
        body = request.body
        mixed = "includeServerSideToolInvocations" in body.get("toolConfig", {})
        ids = "gemini-2" in model and any(
            "id" in part.get(kind, {})
            for content in body["contents"]
            for part in content["parts"]
            for kind in ("functionCall", "functionResponse")
        )
        return _first(
            _posted_json(request, f"/v1beta1/{place}/publishers/google/models/{model}:{method}"),
            _header(request, "authorization", f"Bearer {token}"),
            "unknown name includeServerSideToolInvocations" if mixed else "",
            "unknown name timeRangeFilter" if b"timeRangeFilter" in request.content else "",
            "unknown name id" if ids else "",
        )

    return check


def gemini(key: str, model: str, *, method: str = "generateContent") -> Check:
    """``generateContent`` of v1beta, or another ``method``."""

    def check(request: Received) -> str:
        return _first(
            _posted_json(request, f"/v1beta/models/{model}:{method}"),
            _header(request, "x-goog-api-key", key),
            obeys(lambda body: gemini_rules.check_request(body, model), request.body),
        )

    return check


def anthropic(key: str, *, path: str = "/v1/messages") -> Check:
    """Messages with a key, by the rules of the version that the request names."""

    def check(request: Received) -> str:
        version = request.headers.get("anthropic-version", "")
        return _first(
            _posted_json(request, path),
            _header(request, "x-api-key", key),
            "" if version in ("2023-06-01", "2026-10-21") else f"anthropic-version is {version!r}",
            anthropic_rules.check_beta(request.body, request.headers.get("anthropic-beta", "")),
            obeys(lambda body: anthropic_rules.check_request(body, version), request.body),
        )

    return check


def vertex_claude(token: str, place: str, model: str, *, streamed: bool = False) -> Check:
    """Messages at ``place`` of Vertex AI: the model in the address, the version in the body."""

    def check(request: Received) -> str:
        method = "streamRawPredict" if streamed else "rawPredict"
        body = request.body
        version = body.pop("anthropic_version", "")
        own = [tool["type"] for tool in body.get("tools", []) if "type" in tool]
        return _first(
            _posted_json(request, f"/v1/{place}/publishers/anthropic/models/{model}:{method}"),
            _header(request, "authorization", f"Bearer {token}"),
            "" if version == "vertex-2023-10-16" else f"anthropic_version is {version!r}",
            "model: extra inputs are not permitted" if "model" in body else "",
            "cache_control: extra inputs are not permitted" if "cache_control" in body else "",
            "tools: not supported here" if set(own) - {"web_search_20250305"} else "",
            anthropic_rules.check_beta(body, request.headers.get("anthropic-beta", "")),
            obeys(anthropic_rules.check_request, {**body, "model": model}),
        )

    return check


def bedrock_mantle(token: str, signed: tuple[str, str, str] | None = None) -> Check:
    """Messages at Bedrock's Mantle endpoint, with an API key and none of Anthropic's own tools.

    ``signed``, an access key, its secret and a region: with a signature for Mantle instead.
    """

    def check(request: Received) -> str:
        body = request.body
        own = any("type" in tool for tool in body.get("tools", []))
        return _first(
            _posted_json(request, "/v1/messages"),
            _signed(request, *signed, "bedrock-mantle")
            if signed
            else _header(request, "authorization", f"Bearer {token}"),
            "two keys were sent" if "x-api-key" in request.headers else "",
            _header(request, "anthropic-version", "2023-06-01"),
            "cache_control: extra inputs are not permitted" if "cache_control" in body else "",
            "tools: not supported here" if own else "",
            anthropic_rules.check_beta(body, request.headers.get("anthropic-beta", "")),
            obeys(anthropic_rules.check_request, body),
        )

    return check


def bedrock_token(token: str, model: str, operation: str = "converse") -> Check:
    """One of Bedrock's operations with an API key."""

    def check(request: Received) -> str:
        bearer = _header(request, "authorization", f"Bearer {token}")
        return _first(_asked(request, model, operation), bearer)

    return check


def bedrock_signed(
    access: str, secret: str, region: str, model: str, *, session: str = "", operation: str = "converse"
) -> Check:
    """The same with a signature (AWS Signature Version 4), worked out here from the request as it arrived."""

    def check(request: Received) -> str:
        return _first(
            _asked(request, model, operation),
            _header(request, "x-amz-security-token", session or None),
            _signed(request, access, secret, region),
        )

    return check


def bedrock_list_signed(access: str, secret: str, region: str) -> Check:
    """``ListFoundationModels`` with a signature."""

    def check(request: Received) -> str:
        if (request.method, request.target) != ("GET", "/foundation-models"):
            return f"{request.method} {request.target} is not the list"
        return _signed(request, access, secret, region)

    return check


def _asked(request: Received, model: str, operation: str) -> str:
    def check(body: Any) -> None:
        if operation.startswith("converse"):
            bedrock_rules.check_request(body, model)
        else:
            bedrock_anthropic_rules.check_request(body, model)

    return _first(
        _posted_json(request, f"/model/{quote(model, safe='')}/{operation}"), obeys(check, request.body)
    )


def _signed(request: Received, access: str, secret: str, region: str, named: str = "bedrock") -> str:
    given = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        request.headers.get("authorization", ""),
    )
    if not given:
        return "the authorization is no signature"
    key_id, day, signed_region, service, names, signature = given.groups()
    if (key_id, signed_region, service) != (access, region, named):
        return f"the signature is for {key_id} {signed_region} {service}"
    headers = [f"{name}:{' '.join(request.headers[name].split())}\n" for name in names.split(";")]
    if not {"host", "x-amz-date"} <= set(names.split(";")):
        return "host or date are not signed"
    # The path is encoded once more for the canonical request: every service but S3 does so.
    path = quote(request.target, safe="/~")
    body_hash = hashlib.sha256(request.content).hexdigest()
    canonical = "\n".join([request.method, path, "", "".join(headers), names, body_hash])
    scope = f"{day}/{region}/{named}/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{scope}\n{hashed}"
    key = f"AWS4{secret}".encode()
    for part in (day, region, named, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    expected = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    return "" if hmac.compare_digest(expected, signature) else "the signature does not match the request"


def _first(*problems: str) -> str:
    return next(filter(None, problems), "")


def _posted_json(request: Received, target: str) -> str:
    if (request.method, request.target) != ("POST", target):
        return f"{request.method} {request.target} is not POST {target}"
    kind = request.headers.get("content-type")
    return "" if kind == "application/json" else f"the content type is {kind}"


def _header(request: Received, name: str, value: str | None) -> str:
    return "" if request.headers.get(name) == value else f"{name} is {request.headers.get(name)!r}"


def obeys(check_request: Callable[[Any], None], body: Any) -> str:
    """What ``check_request`` finds wrong, with the line of its rule."""
    try:
        check_request(body)
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        rule = traceback.extract_tb(error.__traceback__)[-1].line
        return f"{rule}: {error}"
    return ""
