"""What providers' errors are about, by the texts that they send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolspan_bridge.errors import Fault
from toolspan_bridge.formats import WireError, get_format

pytestmark = pytest.mark.requirement("I11.2.1")


def read(wire_format: str, body: Any, status: int = 400, **headers: str) -> WireError:
    return get_format(wire_format).parse_error(status, headers, json.dumps(body).encode())


def openai(message: Any, status: int = 400, **more: Any) -> WireError:
    return read("openai", {"error": {"message": message, "type": "invalid_request_error", **more}}, status)


def anthropic(message: str, status: int = 400) -> WireError:
    error = {"type": "invalid_request_error", "message": message}
    return read("anthropic", {"type": "error", "error": error}, status)


def gemini(message: str, status: int = 400) -> WireError:
    return read(
        "gemini", {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}, status
    )


def bedrock(message: str, kind: str = "ValidationException", status: int = 400) -> WireError:
    return read("bedrock", {"__type": kind, "message": message}, status)


def ollama(message: str, status: int = 400) -> WireError:
    return read("ollama", {"error": message}, status)


OVERFLOWS: dict[str, tuple[WireError, int | None, int | None]] = {
    "OpenAI": (
        openai(
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 "
            "tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
        ),
        204_308,
        128_000,
    ),
    "OpenAI Responses": (
        read(
            "openai-responses",
            {
                "error": {
                    "message": "Your input exceeds the context window of this model. Please adjust "
                    "your input.",
                    "code": "context_length_exceeded",
                }
            },
        ),
        None,
        None,
    ),
    "DeepSeek": (
        openai(
            "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens "
            "(122942 in the messages, 8192 in the completion). Please reduce the length of the messages."
        ),
        122_942,
        131_072,
    ),
    "OpenRouter": (
        openai(
            "This endpoint's maximum context length is 262144 tokens. However, you requested about "
            "300000 tokens"
        ),
        300_000,
        262_144,
    ),
    "vLLM": (
        read(
            "openai",
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, your "
                "request has 5000 "
                "input tokens.",
                "type": "BadRequestError",
                "code": 400,
            },
        ),
        5_000,
        4_096,
    ),
    "llama.cpp": (
        openai(
            "the request exceeds the available context size. try increasing the context size",
            500,
            type="exceed_context_size_error",
        ),
        None,
        None,
    ),
    "llama.cpp, newer": (
        openai("request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it"),
        14_429,
        8_192,
    ),
    "Mistral": (
        read(
            "openai",
            {
                "object": "error",
                "message": "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 "
                "maximum context length",
                "code": "3051",
            },
        ),
        65_673,
        32_768,
    ),
    "xAI": (
        openai("This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
        537_812,
        131_072,
    ),
    "Hugging Face": (
        openai(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: "
            "79993 `inputs` "
            "tokens and 1024 `max_new_tokens`",
            422,
        ),
        79_993,
        65_537,
    ),
    "Moonshot": (
        openai("Your request exceeded model token limit: 131072 (requested: 140000)"),
        140_000,
        131_072,
    ),
    "Groq": (openai("Please reduce the length of the messages or completion."), None, None),
    "Anthropic": (anthropic("prompt is too long: 209353 tokens > 199999 maximum"), 209_353, 199_999),
    "Anthropic, with its limit of output": (
        anthropic("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it"),
        188_240,
        200_000,
    ),
    "Bedrock, Claude": (
        bedrock(
            "The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum"
        ),
        200_049,
        200_000,
    ),
    "Bedrock": (bedrock("Input is too long for requested model."), None, None),
    "Gemini": (
        gemini("The input token count (3475108) exceeds the maximum number of tokens allowed (1048576)."),
        3_475_108,
        1_048_576,
    ),
    "Gemini, without the count": (
        gemini("The input token count exceeds the maximum number of tokens allowed (1048576)."),
        None,
        1_048_576,
    ),
    "Ollama": (ollama("prompt too long; exceeded max context length by 12 tokens"), None, None),
    "LM Studio": (
        openai(
            "Trying to keep the first 10136 tokens when context the overflows. However, the model "
            "is loaded with "
            "context length of only 7866 tokens, which is not enough."
        ),
        10_136,
        7_866,
    ),
}


MORE_OVERFLOWS: dict[str, tuple[str, int | None, int | None, int | None]] = {
    # said, counted, of the answer, most
    "vLLM, with the answer": (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is "
        "65536 tokens and your request has 40000 input tokens (32000 > 65536 - 40000).",
        40_000,
        32_000,
        65_536,
    ),
    "vLLM, newest": (
        "This model's maximum context length is 4096 tokens. However, you requested 0 output tokens and your "
        "prompt contains at least 4097 input tokens, for a total of at least 4097 tokens.",
        4_097,
        0,
        4_096,
    ),
    "SGLang": (
        "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a "
        "total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.",
        230_462,
        32_000,
        262_144,
    ),
    "SGLang, input": (
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        9_000,
        None,
        8_192,
    ),
    "Gemini, without brackets": (
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        None,
        None,
        1_048_576,
    ),
    "Groq, a minute's tokens": (
        "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, "
        "Requested 9000, please reduce your message size and try again.",
        9_000,
        None,
        6_000,
    ),
    "Ollama": ("input length exceeds maximum context length", None, None, None),
    "Ollama, without most": ("input length exceeds context length", None, None, None),
    "Copilot": ("prompt token count of 130000 exceeds the limit of 128000", 130_000, None, 128_000),
    "DashScope": ("Range of input length should be [1, 129024]", None, None, 129_024),
    "DashScope, images": ("Total tokens of image and text exceed max message tokens.", None, None, None),
    "Together": (
        "The total number of tokens (300000) exceeds the model's limit of 262144",
        300_000,
        None,
        262_144,
    ),
    "NVIDIA": ("Total token count 300000 exceeds max model len 262144", 300_000, None, 262_144),
    "DeepInfra": ("tokens in request more than max tokens allowed", None, None, None),
    "TensorRT": (
        "The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)",
        9_000,
        None,
        8_192,
    ),
    "Poolside": (
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        131_393,
        None,
        131_040,
    ),
    "LiteLLM": (
        "Input length (265330) exceeds model's maximum context length (262144).",
        265_330,
        None,
        262_144,
    ),
    "Cohere": (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.",
        4_292,
        None,
        4_081,
    ),
    "Cohere, compatible": ("total tokens exceeds the model's max of 4096", None, None, 4_096),
    "Bedrock, Nova": (
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        None,
        None,
        None,
    ),
    "Bedrock": ("Input exceeds the max input token limit", None, None, None),
    "MiniMax": ("invalid params, context window exceeds limit (2013)", None, None, None),
    "Cerebras": (
        "Current length is 9000 while limit is 8192. Reduce the length of the messages",
        9_000,
        None,
        8_192,
    ),
    "Fireworks": (
        "The prompt is too long: 140000, model maximum context length: 131071",
        140_000,
        None,
        131_071,
    ),
    "in Chinese": ("输入长度超过模型最大上下文长度", None, None, None),
    "nobody's words yet": ("Model input is too large: 9000 tokens (max 8192)", 9_000, None, 8_192),
}


@pytest.mark.requirement("I25.5.3")
@pytest.mark.parametrize("name", MORE_OVERFLOWS)
def test_a_request_that_is_too_long_is_known_in_the_words_of_any_vendor(name: str) -> None:
    said, *lengths = MORE_OVERFLOWS[name]
    error = openai(said)
    assert error.fault == "context_overflow"
    assert [error.counted_tokens, error.answer_tokens, error.maximum_tokens] == lengths


@pytest.mark.requirement("I25.5.3")
@pytest.mark.parametrize(
    ("said", "status"),
    [
        (
            "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Try in 6s.",
            429,
        ),
        ("Too many tokens, please wait before trying again.", 429),
        ("Too many tokens, please wait before trying again.", 400),
        ("You exceeded your current quota for input tokens, limit: 250000", 429),
        ("max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for m", 400),
        ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens.", 400),
        (
            "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576.",
            400,
        ),
        ("messages.0.content.1: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", 400),
        ("The request exceeded the time limit", 504),
        ("context deadline exceeded (Client.Timeout exceeded while awaiting headers)", 502),
        ("tools.0.input_schema exceeds the maximum depth limit", 400),
        ("request exceeded the maximum number of retries", 500),
        ("Description of the tool exceeds the maximum length of 1024 characters", 400),
        ("The number of concurrent requests exceeds the limit", 503),
    ],
)
def test_what_is_beyond_another_limit_is_not_too_long(said: str, status: int) -> None:
    assert openai(said, status).fault != "context_overflow"


@pytest.mark.parametrize("name", OVERFLOWS)
def test_a_request_that_is_too_long_is_told_with_both_lengths(name: str) -> None:
    error, counted, most = OVERFLOWS[name]
    assert (error.fault, error.counted_tokens, error.maximum_tokens) == ("context_overflow", counted, most)
    assert (error.retryable, error.tool) == (False, None)


PARAMETERS: dict[str, tuple[WireError, str]] = {
    "OpenAI, a value": (
        openai(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default "
            "(1) value is "
            "supported.",
            param="temperature",
            code="unsupported_value",
        ),
        "temperature",
    ),
    "OpenAI, a limit": (
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' "
            "instead.",
            param="max_tokens",
            code="unsupported_parameter",
        ),
        "max_tokens",
    ),
    "OpenAI, without a code": (
        openai("Unsupported parameter: 'parallel_tool_calls' is not supported with this model."),
        "parallel_tool_calls",
    ),
    "OpenAI, of every tool": (
        openai("Unknown parameter: 'tools[0].function.strict'.", code="unknown_parameter"),
        "strict",
    ),
    "Azure": (openai("Unrecognized request argument supplied: parallel_tool_calls"), "parallel_tool_calls"),
    "Mistral": (
        read(
            "openai",
            {
                "object": "error",
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "stream_options"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                },
            },
            422,
        ),
        "stream_options",
    ),
    "Mistral, as a list": (
        read(
            "openai",
            {"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]},
            422,
        ),
        "max_completion_tokens",
    ),
    "Groq": (openai("property 'reasoning_effort' is unsupported"), "reasoning_effort"),
    "xAI": (openai("Model grok-4 does not support parameter reasoningEffort."), "reasoningEffort"),
    "Anthropic": (anthropic("`temperature` is deprecated for this model."), "temperature"),
    "Anthropic, unknown": (anthropic("output_config: Extra inputs are not permitted"), "output_config"),
    "Anthropic, of every tool": (
        anthropic("tools.0.custom.strict: Extra inputs are not permitted"),
        "strict",
    ),
    "Anthropic, a forced call": (
        anthropic("Thinking may not be enabled when tool_choice forces tool use."),
        "tool_choice",
    ),
    "Bedrock, Claude": (
        bedrock("The model returned the following errors: `temperature` is deprecated for this model."),
        "temperature",
    ),
    "Bedrock, in pieces": (bedrock("This model doesn't support tool use in streaming mode."), "stream"),
    "Gemini": (
        gemini(
            "Invalid JSON payload received. Unknown name \"thinkingLevel\" at 'generation_config': "
            "Cannot find "
            "field."
        ),
        "thinkingLevel",
    ),
    "Ollama": (ollama('"llama3.2" does not support thinking'), "think"),
    "OpenRouter": (
        openai("No endpoints found that support the provided 'tool_choice' value. To learn more", 404),
        "tool_choice",
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_setting_that_is_not_taken_is_named(name: str) -> None:
    error, parameter = PARAMETERS[name]
    assert (error.fault, error.parameter, error.retryable) == ("parameter", parameter, False)


VLLM = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
GROQ = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."
WRONG_WIRE = (
    "Function tools with reasoning_effort are not supported for gpt-5.6-terra in "
    "/v1/chat/completions. To use "
    "function tools, use /v1/responses or set reasoning_effort to 'none'."
)
ORPHAN = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
PREFIX = "messages.1.content.0: The block is bound to a different conversation"
FAULTS: dict[str, tuple[WireError, Fault]] = {
    "Groq": (openai(GROQ, code="tool_use_failed", failed_generation="<function=x>"), "generation"),
    "Groq, checked": (
        openai(
            "tool call validation failed: parameters for tool x did not match schema", code="tool_use_failed"
        ),
        "generation",
    ),
    "Ollama's parser": (
        ollama("error parsing tool call: raw='{}]', err=invalid character", 500),
        "generation",
    ),
    **{
        f"a call that {server} cannot read: {words}": (openai(words, 500, type="server_error"), "generation")
        for server, words in (
            (
                "llama.cpp",
                "The model produced output that does not match the expected peg-native format",
            ),
            ("llama.cpp", "The model produced output that does not match the expected Hermes format"),
            ("llama.cpp", "Failed to parse input at pos 395: <|tool_call_start|>[f(a=1)]"),
            ("vLLM", "unexpected tokens remaining in message header: Some(to=functions.f)"),
            ("vLLM", "Unexpected token 12606 while expecting start token 200006"),
            ("vLLM", "Error in extracting tool call from response."),
            ("SGLang", "Failed to parse fc related info to json format!"),
            ("LM Studio", "Failed to parse tool call: Unexpected end of content"),
        )
    },
    **{
        f"a call that Ollama cannot read: {words}": (ollama(words, 500), "generation")
        for words in (
            "XML syntax error on line 115: unexpected EOF",
            "failed to parse XML: XML syntax error on line 1: element <tool_call> closed by </arg_value>",
            "expected element type <function> but have <parameter>",
        )
    },
    "Bedrock, Nova": (
        bedrock("Model produced invalid sequence as part of ToolUse.", "ModelErrorException", 424),
        "generation",
    ),
    "vLLM": (openai(VLLM, type="BadRequestError"), "no_tools"),
    "llama.cpp": (openai("tools param requires --jinja flag", 500, type="server_error"), "no_tools"),
    "Ollama": (ollama("registry.ollama.ai/library/gemma3:4b does not support tools"), "no_tools"),
    "OpenRouter": (
        openai("No endpoints found that support tool use. To learn more", 404, code=404),
        "no_tools",
    ),
    "OpenAI": (openai("Unsupported parameter: 'tools' is not supported with this model."), "no_tools"),
    "Bedrock": (bedrock("This model doesn't support tool use."), "no_tools"),
    "Gemini": (gemini("Function calling is not enabled for models/gemma-3-4b-it"), "no_tools"),
    "Mistral, roles": (
        read(
            "openai",
            {
                "message": "Unexpected role 'user' after role 'tool'",
                "type": "invalid_request_message_order",
                "code": "3230",
            },
        ),
        "message_order",
    ),
    "Mistral, ids": (
        openai("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
        "message_order",
    ),
    "OpenAI, an orphan": (
        openai("An assistant message with 'tool_calls' must be followed by tool messages responding to each"),
        "message_order",
    ),
    "Anthropic, an orphan": (anthropic(ORPHAN), "message_order"),
    "Gemini, an order": (
        gemini("Please ensure that function call turn comes immediately after a user turn"),
        "message_order",
    ),
    "DeepSeek, thoughts": (
        openai("Missing reasoning_content: the reasoning_content in the thinking mode must be passed back"),
        "message_order",
    ),
    "Anthropic, a prefix": (anthropic(PREFIX), "changed_prefix"),
    "OpenAI, the wire": (openai(WRONG_WIRE, param="reasoning_effort"), "wrong_wire"),
    "OpenAI, the other wire": (
        openai("This model is only supported in v1/responses and not in v1/chat/completions.", 404),
        "wrong_wire",
    ),
    "OpenAI, a tool": (
        openai("Invalid schema for function 's__t': In context=(), 'oneOf' is not permitted."),
        "tool",
    ),
    "Anthropic, a tool": (anthropic("tools.17.custom.input_schema: JSON schema is invalid"), "tool"),
    "Gemini, a tool": (
        gemini(
            'Invalid JSON payload received. Unknown name "const" at \'tools[0].function_declarations[3]'
            ".parameters': Cannot find field."
        ),
        "tool",
    ),
    "Bedrock, a schema": (bedrock("The value at toolConfig.tools.0 is invalid: schema"), "tool"),
    "Gemini, its own tools beside functions": (
        gemini("Tool use with function calling is unsupported by the model."),
        "other",
    ),
    "an overloaded server": (openai("The server with its tools is overloaded", 503), "other"),
    "too many at once": (bedrock("Too many tokens, please wait", "ThrottlingException", 429), "other"),
    "a wrong key": (openai("Incorrect API key for tools", 401), "other"),
    "something else": (openai("The seed is odd"), "other"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_error_is_sorted_by_what_it_is_about(name: str) -> None:
    error, fault = FAULTS[name]
    assert error.fault == fault
    assert error.retryable == (error.status in (429, 503))


@pytest.mark.requirement("I11.2.4")
def test_the_reason_of_the_provider_behind_a_router_is_told_and_understood() -> None:
    raw = {
        "error": {
            "message": "This model's maximum context length is 10 tokens. However, your messages "
            "resulted in\n12 tokens."
        }
    }
    error = openai(
        "Provider returned error",
        code=400,
        metadata={"raw": json.dumps(raw), "provider_name": "Nvidia"},
    )
    assert error.message.startswith("Provider returned error (Nvidia: This model's maximum context length")
    assert "\n" not in error.message
    assert (error.fault, error.counted_tokens, error.maximum_tokens) == ("context_overflow", 12, 10)
    plain = openai("Provider returned error", 429, metadata={"raw": "rate-limited upstream. Retry shortly"})
    assert (
        plain.message
        == "Provider returned error (the provider behind it: rate-limited upstream. Retry shortly)"
    )
