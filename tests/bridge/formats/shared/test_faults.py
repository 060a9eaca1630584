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
    "Bedrock maxLength": (
        "Malformed input request: expected maxLength: 200000, actual: 205000, please "
        "reformat your input and try again.",
        None,
        None,
        None,
    ),
    "Bedrock Nova": (
        "The model returned the following errors: Input Tokens Exceeded: Number of input "
        "tokens exceeds maximum length. Please update the input to try again.",
        None,
        None,
        None,
    ),
    "Titan": (
        "Too many input tokens. Max input tokens: 8192, request input token count: 9000 ",
        9000,
        None,
        8192,
    ),
    "Bedrock Llama": (
        "This model's maximum context length is 131072 tokens. Please reduce the length of the prompt",
        None,
        None,
        131072,
    ),
    "Bedrock claude": (
        "The model returned the following errors: prompt is too long: 215000 tokens > 200000 maximum",
        215000,
        None,
        200000,
    ),
    "Vertex": (
        "Unable to submit request because the input token count is 1200000 but model only "
        "supports up to 1048576. Reduce the input token count and try again.",
        1200000,
        None,
        1048576,
    ),
    "Vertex commas": (
        "Unable to submit request because the input token count is 1,200,000 but the model "
        "only supports up to 1,048,576.",
        1200000,
        None,
        1048576,
    ),
    "Gemini parens": (
        "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).",
        1250000,
        None,
        1048576,
    ),
    "vLLM decoder": (
        "The decoder prompt (length 40000) is longer than the maximum model length of 32768. "
        "Make sure that `max_model_len` is no smaller than the number of text tokens.",
        40000,
        None,
        32768,
    ),
    "vLLM input length": (
        "Input length (40000) exceeds model's maximum context length (32768).",
        40000,
        None,
        32768,
    ),
    "vLLM engine": (
        "The engine prompt length 2338 exceeds the max_model_len 2048. Please reduce prompt.",
        2338,
        None,
        2048,
    ),
    "vLLM new": (
        "This model's maximum context length is 8192 tokens. However, you requested 0 output "
        "tokens and your prompt contains at least 8193 input tokens, for a total of at least "
        "8193 tokens. Please reduce the length of the input prompt or the number of "
        "requested output tokens.",
        8193,
        0,
        8192,
    ),
    "vLLM chars": (
        "This model's maximum context length is 32768 tokens. However, you requested 4096 "
        "output tokens and your prompt contains 131073 characters (more than 114688 "
        "characters, which is the upper bound for 28672 input tokens). Please reduce the "
        "length of the input prompt or the number of requested output tokens.",
        None,
        None,
        32768,
    ),
    "SGLang: other words": (
        "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
        40000,
        None,
        32768,
    ),
    "SGLang total": (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. "
        "You requested a total of 40000 tokens: 39000 tokens from the input messages and "
        "1000 tokens for the completion. Please reduce the number of tokens in the input "
        "messages or the completion to fit within the limit.",
        39000,
        1000,
        32768,
    ),
    "llama old": (
        "the request exceeds the available context size. try increasing the context size or "
        "enable context shift",
        None,
        None,
        None,
    ),
    "llama mid": ("Context size has been exceeded.", None, None, None),
    "llama too large": ("input is larger than the max context size. skipped", None, None, None),
    "ollama: other words": ("the input length exceeds the context length", None, None, None),
    "ollama cloud": ("prompt too long; exceeded max context length by 2048 tokens", None, None, None),
    "LM Studio: other words": (
        "The number of tokens to keep from the initial prompt is greater than the context "
        "length (n_keep: 12000>= n_ctx: 4096). Try to load the model with a larger context "
        "length, or provide a shorter input",
        12000,
        None,
        4096,
    ),
    "LM Studio2": (
        "Trying to keep the first 4562 tokens when context the overflows. However, the model "
        "is loaded with context length of only 4096 tokens, which is not enough. Try to load "
        "the model with a larger context length, or provide a shorter input",
        4562,
        None,
        4096,
    ),
    "LM Studio3": (
        "Reached context length of 4096 tokens with model (arch: qwen2) that does not "
        "currently support mid-generation context overflow. Try reloading with a larger "
        "context length or shortening the prompt/chat.",
        None,
        None,
        4096,
    ),
    "Moonshot: other words": (
        "Invalid request: Your request exceeded model token limit: 131072",
        None,
        None,
        131072,
    ),
    "Moonshot2": ("Input token length too long", None, None, None),
    "Zhipu": ("Prompt exceeds max length", None, None, None),
    "Zhipu zh": ("输入长度超过模型最大长度限制", None, None, None),
    "Cerebras: other words": (
        "Please reduce the length of the messages or completion. Current length is 8500 while limit is 8192",
        8500,
        None,
        8192,
    ),
    "Copilot: other words": (
        "prompt token count of 135355 exceeds the limit of 128000",
        135355,
        None,
        128000,
    ),
    "GitHub Models": ("Request body too large for gpt-4o model. Max size: 8000 tokens.", None, None, 8000),
    "AI21": ("The prompt and completion tokens exceed the maximum of 262144 tokens", None, None, 262144),
    "Perplexity": ("Request exceeds the maximum context length of 127072 tokens", None, None, 127072),
    "Cloudflare": (
        "The estimated number of input and maximum output tokens (35000) exceeded this model "
        "context window limit (24000).",
        35000,
        None,
        24000,
    ),
    "watsonx": (
        "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        9000,
        None,
        8192,
    ),
    "watsonx2": (
        "Input text exceeds the maximum number of tokens supported by this model (512)",
        None,
        None,
        512,
    ),
    "DashScope2": (
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
        None,
        None,
        98304,
    ),
    "Doubao": ("Total tokens of image and text exceed max message tokens. Request id: 021", None, None, None),
    "Doubao2": ("Input length 140000 exceeds the maximum length 131072", 140000, None, 131072),
    "Baidu": ("Prompt tokens too long", None, None, None),
    "Baidu2": ("the max input characters is 20000, current is 25000", None, None, None),
    "Hunyuan": ("输入 token 数超过限制", None, None, None),
    "SambaNova": (
        "The maximum context length of the model is 16384. However, requested 20000 tokens",
        20000,
        None,
        16384,
    ),
    "Snowflake": ("max tokens of 32000 exceeded", None, None, 32000),
    "OpenRouter3": (
        "This endpoint's maximum context length is 204800 tokens. However, you requested "
        "about 214000 tokens (190000 of text input, 16000 of tool input, 8000 in the "
        "output). Please reduce the length of either one, or use the context-compression "
        "plugin to compress your prompt automatically.",
        206000,
        8000,
        204800,
    ),
    "OpenRouter: other words": (
        "This endpoint's maximum context length is 40960 tokens. However, you requested "
        "about 68000 tokens (60000 of text input, 8000 in the output). Please reduce",
        60000,
        8000,
        40960,
    ),
    "Responses": (
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
        None,
        None,
    ),
    "Azure: other words": (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted "
        "in 300000 tokens. Please reduce the length of the messages.",
        300000,
        None,
        272000,
    ),
    "OpenAI gpt5": (
        "Input tokens exceed the configured limit of 922000 tokens. Your messages resulted "
        "in 1000000 tokens.",
        1000000,
        None,
        922000,
    ),
    "Mistral: other words": (
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 "
        "maximum context length",
        65673,
        None,
        32768,
    ),
    "Mistral2": (
        "The number of tokens in the prompt exceeds the model's maximum context length of 32768 tokens.",
        None,
        None,
        32768,
    ),
    "HF": ("Input validation error: `inputs` must have less than 4095 tokens. Given: 5000", 5000, None, 4095),
    "Databricks": (
        "Input tokens exceeded: the request has 130000 tokens but the model supports 128000",
        130000,
        None,
        128000,
    ),
    "Together: other words": (
        "The request's input tokens (140000) exceed the model's context length of 131072 tokens",
        140000,
        None,
        131072,
    ),
    "Friendli": ("prompt length 9000 exceeds the maximum sequence length 8192", 9000, None, 8192),
    "Reka": ("conversation too long: 130000 tokens, maximum is 128000", 130000, None, 128000),
    "TensorRT-LLM": (
        "default_max_tokens (-812) must be greater than 0, default_max_tokens (-812) = "
        "max_seq_len (8192) - splited_prompt_len (9004)",
        9004,
        None,
        8192,
    ),
    "TensorRT-LLM2": (
        "The sum of prompt length (9000.0), query length (0) and max_new_tokens (100) should "
        "not exceed max_num_tokens (8192)",
        9000,
        100,
        8192,
    ),
    "TRT3": ("Prompt length (9000) exceeds maximum input length (8192).", 9000, None, 8192),
    "Lambda": ("Requested tokens (9000) exceed context window of 8192", 9000, None, 8192),
    "llama-cpp-python": ("Requested tokens (4500) exceed context window of 4096", 4500, None, 4096),
    "exllama/Tabby": ("Prompt length 9000 is greater than max_seq_len 8192", 9000, None, 8192),
    "KoboldCpp": ("Prompt exceeds max context size", None, None, None),
    "mlx": ("Prompt too long (9000 tokens), max is 8192", 9000, None, 8192),
    "Writer": ("The total token count 140000 exceeds the context window 131072", 140000, None, 131072),
    "Vercel": (
        "Input is too long. The model supports 200000 tokens, the request has 250000.",
        250000,
        None,
        200000,
    ),
    "Codestral": ("the prompt is longer than the model's context window", None, None, None),
    "Upstage": ("This model's maximum context length is 32768 tokens. Requested: 40000", 40000, None, 32768),
    "Novita": (
        "The length of messages 140000 tokens exceed the maximum context length 131072 tokens",
        140000,
        None,
        131072,
    ),
    "SiliconFlow": (
        "length of prompt_tokens (140000) must be less than max_seq_len (131072).",
        140000,
        None,
        131072,
    ),
    "SiliconFlow2": ("max_seq_len exceeded: 140000 > 131072", 140000, None, 131072),
    "Venice": ("The prompt exceeds the model's context window", None, None, None),
    "ru GigaChat": ("Tokens limit exceeded. Max tokens: 32768, got 40000", 40000, None, 32768),
    "Yandex": ("number of input tokens must be no more than 32000, got 40000", 40000, None, 32000),
    "StepFun": ("total message token length exceed model limit", None, None, None),
    "StepFun2": ("your input token is 40000, exceed the model limit 32768", 40000, None, 32768),
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
        (
            "max_tokens: 128000 > 64000, which is the maximum allowed number of output "
            "tokens for claude-sonnet-4-5",
            400,
        ),
        (
            "max_tokens is too large: 200000. This model supports at most 16384 completion "
            "tokens, whereas you provided 200000.",
            400,
        ),
        (
            "The maximum tokens you requested exceeds the model limit of 4096. Try again "
            "with a maximum tokens value that is lower than 4096.",
            400,
        ),
        (
            "Invalid 'messages[0].content': string too long. Expected a string with maximum "
            "length 1048576, but got a string with length 1200000 instead.",
            400,
        ),
        ("Image exceeds 5 MB maximum: 5300000 bytes > 5242880 bytes", 400),
        (
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but "
            "got an array with length 140 instead.",
            400,
        ),
        ("You exceeded your current quota, please check your plan and billing details.", 400),
        (
            "Rate limit reached for gpt-4o in organization org on tokens per min (TPM): "
            "Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
            400,
        ),
        ("This request would exceed your organization's rate limit of 30,000 input tokens per minute", 400),
        ("The long context beta is not yet available for this subscription.", 400),
        ("Extra usage is required for long context requests.", 400),
        ("Number of request tokens has exceeded your per-minute rate limit", 400),
        ("Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64", 400),
        ("tools.0.custom.name: String should have at most 128 characters", 400),
        ("max_output_tokens must be less than 65536", 400),
        (
            "Unable to submit request because it has a maxOutputTokens value of 100000 but "
            "the supported range is from 1 to 65537.",
            400,
        ),
        ("messages: text content blocks must be non-empty", 400),
        ("The model is overloaded: too many concurrent requests", 400),
        ("stop sequences exceed the maximum of 4", 400),
        ("budget_tokens must be less than max_tokens", 400),
        ("Range of max_tokens should be [1, 8192]", 400),
        ("thinking budget 40000 exceeds maximum 32768", 400),
        ("`max_tokens` must be at most 8192 for this model", 400),
        ("Request timed out: context deadline exceeded", 400),
        ("context canceled", 400),
        ("user location is not supported; limit exceeded 10000 requests", 400),
        ("The response was filtered: prompt triggering content management policy", 400),
        ("messages.4.content.0.image: at most 100 images", 400),
        ("Your prompt_cache_key is too long: maximum 64", 400),
        ("tool description is too long: 12000 > 10000", 400),
        ("Total tokens quota exceeded for project: 1000000 daily limit", 400),
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


ACCOUNTS: list[tuple[str, int, dict[str, Any], Fault]] = [
    (
        "openai",
        429,
        {
            "error": {
                "code": "1113",
                "message": "Insufficient balance or no resource package. Please recharge.",
            }
        },
        "credit",
    ),
    (
        "openai",
        429,
        {
            "error": {
                "message": "Your account org-x is suspended due to insufficient balance, please "
                "recharge your account",
                "type": "exceeded_current_quota_error",
            }
        },
        "credit",
    ),
    (
        "anthropic",
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "Your credit balance is too low to access the Anthropic API. Please go "
                "to Plans & Billing to upgrade or purchase credits.",
            },
        },
        "credit",
    ),
    (
        "openai",
        403,
        {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None},
        "credit",
    ),
    (
        "openai",
        402,
        {
            "error": {
                "message": "Insufficient Balance",
                "type": "unknown_error",
                "code": "invalid_request_error",
            }
        },
        "credit",
    ),
    (
        "openai",
        400,
        {
            "error": {
                "code": "Arrearage",
                "message": "Access denied, please make sure your account is in good standing.",
            }
        },
        "credit",
    ),
    (
        "openai",
        402,
        {
            "error": {
                "message": "This request requires more credits, or fewer max_tokens. You requested "
                "up to 8192 tokens, but can only afford 100.",
                "code": 402,
            }
        },
        "credit",
    ),
    (
        "openai",
        403,
        {
            "error": "Your newly created team doesn't have any credits yet. You have used "
            "all available credits or reached your monthly spending limit."
        },
        "credit",
    ),
    (
        "openai",
        402,
        {"error": "You have exceeded your monthly included credits for Inference Providers."},
        "credit",
    ),
    (
        "openai",
        412,
        {
            "error": {
                "message": "Account has been suspended, possibly due to reaching the monthly "
                "spending limit or failure to pay past invoices"
            }
        },
        "credit",
    ),
    ("openai", 500, {"error": {"code": "x", "message": "账户余额不足，请充值"}}, "credit"),
    (
        "openai",
        400,
        {
            "error": "Incorrect API key provided: xai-***. You can obtain an API key from "
            "https://console.x.ai."
        },
        "key",
    ),
    (
        "gemini",
        400,
        {
            "error": {
                "code": 400,
                "message": "API key not valid. Please pass a valid API key.",
                "status": "INVALID_ARGUMENT",
            }
        },
        "key",
    ),
    (
        "openai",
        400,
        {
            "error": {
                "code": "content_filter",
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
                "content management policy.",
            }
        },
        "content",
    ),
    (
        "openai",
        403,
        {
            "error": {
                "code": 403,
                "message": "meta-llama/x requires moderation on OpenAI. Your input was flagged for "
                '"violence".',
                "metadata": {"reasons": ["violence"], "flagged_input": "x"},
            }
        },
        "content",
    ),
    (
        "openai",
        400,
        {
            "error": {
                "code": "data_inspection_failed",
                "message": "Input data may contain inappropriate content.",
            }
        },
        "content",
    ),
    (
        "openai",
        400,
        {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}},
        "content",
    ),
    (
        "openai",
        400,
        {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}},
        "content",
    ),
    (
        "openai",
        400,
        {
            "error": {
                "message": "Invalid prompt: your prompt was flagged as potentially violating our "
                "usage policy.",
                "code": "invalid_prompt",
            }
        },
        "content",
    ),
    (
        "openai",
        429,
        {
            "error": {
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "code": "insufficient_quota",
                "type": "insufficient_quota",
            }
        },
        "other",
    ),
    (
        "gemini",
        429,
        {
            "error": {
                "code": 429,
                "message": "You exceeded your current quota, please check your plan and billing "
                "details. Please retry in 34s.",
                "status": "RESOURCE_EXHAUSTED",
            }
        },
        "other",
    ),
    (
        "openai",
        429,
        {
            "error": {
                "message": "Rate limit reached for x. Need more tokens? Upgrade to Dev Tier today "
                "at https://console.groq.com/settings/billing",
                "code": "rate_limit_exceeded",
            }
        },
        "other",
    ),
    (
        "openai",
        400,
        {
            "error": {
                "message": "Invalid schema for function 'x': 'insufficient' is not valid",
                "code": "invalid_function_parameters",
            }
        },
        "tool",
    ),
    (
        "openai",
        400,
        {
            "error": {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "code": "unsupported_parameter",
            }
        },
        "parameter",
    ),
    (
        "openai",
        403,
        {
            "error": {
                "message": "Project `proj_x` does not have access to model `gpt-9`",
                "code": "model_not_found",
            }
        },
        "other",
    ),
    ("openai", 498, {"error": {"message": "Flex tier capacity exceeded", "type": "server_error"}}, "other"),
    (
        "anthropic",
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "Output blocked by content filtering policy",
            },
        },
        "content",
    ),
    ("openai", 400, {"error": {"message": "no valid api key"}}, "key"),
]


@pytest.mark.requirement("I25.5.1")
@pytest.mark.parametrize(("wire", "status", "body", "fault"), ACCOUNTS)
def test_an_account_without_credit_a_refused_key_and_a_filter_are_known_with_any_status(
    wire: str, status: int, body: dict[str, Any], fault: Fault
) -> None:
    error = read(wire, body, status)
    assert error.fault == fault
    assert fault in ("other", "tool", "parameter") or not error.retryable


@pytest.mark.requirement("I25.5.1")
@pytest.mark.parametrize(
    ("status", "again"), [(425, True), (498, True), (403, False), (405, False), (424, False)]
)
def test_a_status_says_whether_to_ask_again(status: int, again: bool) -> None:
    assert openai("boom", status).retryable is again
