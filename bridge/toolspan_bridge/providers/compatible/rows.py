"""The providers that speak one of OpenAI's formats. Adding one is adding a row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A base URL, the variables that hold the key and another base URL, and where keys are to be had.

    ``limit`` is what the provider calls the limit of output tokens, ``format`` its wire format.
    A server on the user's own machine needs no key: ``local`` says how it is started. ``host`` is a variable
    that holds host and port alone, as Ollama reads it, for where ``base`` is not set.
    """

    url: str
    key: str
    base: str
    keys_at: str = ""
    local: str = ""
    limit: str = "max_tokens"
    format: str = "openai"
    headers: tuple[tuple[str, str], ...] = ()
    host: str = ""


ROWS: dict[str, Row] = {
    "cerebras": Row(
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        "CEREBRAS_BASE_URL",
        "https://cloud.cerebras.ai",
        limit="max_completion_tokens",
    ),
    "deepseek": Row(
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        "DEEPSEEK_BASE_URL",
        "https://platform.deepseek.com/api_keys",
    ),
    "fireworks": Row(
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        "FIREWORKS_BASE_URL",
        "https://app.fireworks.ai",
    ),
    "groq": Row(
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        "GROQ_BASE_URL",
        "https://console.groq.com/keys",
        limit="max_completion_tokens",
    ),
    "huggingface": Row(
        "https://router.huggingface.co/v1",
        "HF_TOKEN",
        "HUGGINGFACE_BASE_URL",
        "https://huggingface.co/settings/tokens",
    ),
    "llamacpp": Row(
        "http://127.0.0.1:8080/v1", "LLAMACPP_API_KEY", "LLAMACPP_BASE_URL", local="llama-server --jinja"
    ),
    "lmstudio": Row(
        "http://127.0.0.1:1234/v1", "LMSTUDIO_API_KEY", "LMSTUDIO_BASE_URL", local="lms server start"
    ),
    "mistral": Row(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "MISTRAL_BASE_URL",
        "https://console.mistral.ai/api-keys",
    ),
    "nvidia": Row(
        "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", "NVIDIA_BASE_URL", "https://build.nvidia.com"
    ),
    "ollama-openai": Row(
        "http://127.0.0.1:11434/v1",
        "OLLAMA_API_KEY",
        "OLLAMA_OPENAI_BASE_URL",
        local="ollama serve",
        host="OLLAMA_HOST",
    ),
    "openai": Row(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "https://platform.openai.com/api-keys",
        limit="max_completion_tokens",
        headers=(("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")),
    ),
    "openai-responses": Row(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "https://platform.openai.com/api-keys",
        limit="max_output_tokens",
        format="openai-responses",
        headers=(("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")),
    ),
    "openrouter": Row(
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "OPENROUTER_BASE_URL",
        "https://openrouter.ai/keys",
    ),
    "together": Row(
        "https://api.together.xyz/v1", "TOGETHER_API_KEY", "TOGETHER_BASE_URL", "https://api.together.ai"
    ),
    "vllm": Row("http://127.0.0.1:8000/v1", "VLLM_API_KEY", "VLLM_BASE_URL", local="vllm serve MODEL"),
    "xai": Row("https://api.x.ai/v1", "XAI_API_KEY", "XAI_BASE_URL", "https://console.x.ai"),
}
