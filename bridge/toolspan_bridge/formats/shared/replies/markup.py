"""The markup in which models write thoughts and calls, one row for each way.

It stands in an answer's text where a server has no parser for its model. Sources: the chat templates of the
models named, and the parsers of vLLM (``reasoning``, ``tool_parsers``), SGLang (``function_call``) and
llama.cpp (``common/chat``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = [
    "CALLS",
    "ENDS",
    "QUOTES",
    "THOUGHTS",
    "CallMarkup",
    "ThoughtMarkup",
    "any_of",
    "halves",
    "held_from",
]


class ThoughtMarkup(NamedTuple):
    """``opens`` begins thoughts and ``closes`` ends them. ``alone``: the template writes the opening into the
    prompt, or a server drops it, so that the end may come alone."""

    opens: str
    closes: str
    alone: bool = True


class CallMarkup(NamedTuple):
    """``opens`` begins calls; ``closes`` ends them, if anything does. ``within`` are tokens between their
    parts. Source: ``of``, the models that write it."""

    of: str
    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


THOUGHTS = (
    ThoughtMarkup("<think>", "</think>"),  # DeepSeek, Qwen, GLM, MiniMax, Nemotron, Olmo, Step, Hunyuan, …
    ThoughtMarkup("<think >", "</think>"),
    ThoughtMarkup("<thinking>", "</thinking>"),
    ThoughtMarkup("<thought>", "</thought>"),  # EXAONE Deep
    ThoughtMarkup("<thoughts>", "</thoughts>"),
    ThoughtMarkup("<reasoning>", "</reasoning>"),
    ThoughtMarkup("<reflection>", "</reflection>"),
    ThoughtMarkup("<seed:think>", "</seed:think>"),  # Seed-OSS
    ThoughtMarkup("<mm:think>", "</mm:think>"),  # MiniMax M3
    ThoughtMarkup("<longcat_think>", "</longcat_think>"),
    ThoughtMarkup("[THINK]", "[/THINK]"),  # Magistral
    ThoughtMarkup("◁think▷", "◁/think▷"),  # Kimi VL
    ThoughtMarkup("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A Reasoning
    ThoughtMarkup("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ThoughtMarkup("<|begin_of_thought|>", "<|end_of_thought|>"),
    ThoughtMarkup("<think:opensource>", "</think:opensource>"),  # Hunyuan 3
    ThoughtMarkup("<ifm|think>", "</ifm|think>"),  # K2 Horizon
    ThoughtMarkup("<ifm|think_fast>", "</ifm|think_fast>"),
    ThoughtMarkup("<ifm|think_faster>", "</ifm|think_faster>"),
    ThoughtMarkup("<|think:start|>", "<|think:end|>"),  # Solar Open 2
    ThoughtMarkup("<|open|>think<|sep|>", "<|close|>think<|sep|>"),  # Kimi K3
    ThoughtMarkup("[unused16]", "[unused17]"),  # openPangu
    ThoughtMarkup("<unused94>thought", "<unused95>", alone=False),  # MedGemma
    ThoughtMarkup("<|channel>thought", "<channel|>", alone=False),  # Gemma 4
    ThoughtMarkup("<|channel|>analysis<|message|>", "<|end|>", alone=False),  # gpt-oss
    ThoughtMarkup("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>", alone=False),
    ThoughtMarkup("Here is my thought process:", "Here is my response:", alone=False),  # Granite 3
    ThoughtMarkup("Here's my thought process:", "Here's my response:", alone=False),
)


def _plamo(part: str) -> str:
    return f"<|plamo:{part}:plamo|>"


_DEEPSEEK_WITHIN = ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>")
_STEP_WITHIN = ("<｜tool_call_begin｜>", "<｜tool_sep｜>", "<｜tool_call_end｜>")
_KIMI_WITHIN = ("<|tool_call_argument_begin|>", "<|tool_call_end|>")

CALLS = (
    CallMarkup("Hermes, Qwen, GLM, Granite 4", ("<tool_call>",), ("</tool_call>",), ("<tool_sep>",)),
    CallMarkup("Jamba, Hunyuan", ("<tool_calls>",), ("</tool_calls>",)),
    CallMarkup("Hunyuan 3", ("<tool_calls:opensource>",), ("</tool_calls:opensource>",)),
    CallMarkup(
        "Hunyuan 3", ("<tool_call:opensource>",), ("</tool_call:opensource>",), ("<tool_sep:opensource>",)
    ),
    CallMarkup("Granite 20B", ("<function_call>",), ("</function_call>",)),
    CallMarkup("Claude, Olmo 3", ("<function_calls>",), ("</function_calls>",)),
    CallMarkup("Qwen3-Coder, Functionary, Llama 3", ("<function=", "<function name="), ("</function>",)),
    CallMarkup("Claude, MiniMax", ("<invoke name=",), ("</invoke>",)),
    CallMarkup("MiniMax M2", ("<minimax:tool_call>",), ("</minimax:tool_call>",)),
    CallMarkup("MiniMax M3", ("]<]minimax[>[<tool_call>",), ("]<]minimax[>[</tool_call>",)),
    CallMarkup("MiniMax M3", ("]<]minimax[>[<invoke name=",), ("]<]minimax[>[</invoke>",)),
    CallMarkup("dots", ("<dots_function_call>",), ("</dots_function_call>",)),
    CallMarkup("Muse Glimmer", ("<atem:function_calls>",), ("</atem:function_calls>",), ("<|eom|>",)),
    CallMarkup("Muse Glimmer", ("<atem:invoke name=",), ("</atem:invoke>",)),
    CallMarkup("K2 Horizon", ("<ifm|tool_calls>",), ("</ifm|tool_calls>",)),
    CallMarkup("K2 Horizon", ("<ifm|tool_call>",), ("</ifm|tool_call>",)),
    CallMarkup("Solar Open 2", ("<|tool_call:start|>",), ("<|tool_call:end|>",)),
    CallMarkup("PLaMo 3", (_plamo("begin_tool_requests"),), (_plamo("end_tool_requests"),)),
    CallMarkup(
        "PLaMo 3",
        (_plamo("begin_tool_request"),),
        (_plamo("end_tool_request"),),
        tuple(_plamo(f"{end}_tool_{part}") for end in ("begin", "end") for part in ("name", "arguments")),
    ),
    CallMarkup("openPangu", ("[unused11]",), ("[unused12]",)),
    CallMarkup("GigaChat 3", ("<|message_sep|>\n\nfunction call<|role_sep|>", "function call<|role_sep|>")),
    CallMarkup("GigaChat 3", ("<|function_call|>",)),
    CallMarkup("GigaChat 3.5", ("<｜GCML｜tool_calls>",), ("</｜GCML｜tool_calls>",)),
    CallMarkup("GigaChat 3.5", ("<｜GCML｜invoke name=",), ("</｜GCML｜invoke>",)),
    CallMarkup(
        "Inkling",
        ("<|message_model|>",),
        ("<|end_message|>",),
        ("<|content_invoke_tool_json|>",),
    ),
    CallMarkup(
        "Kimi K3",
        ("<|close|>response<|sep|><|open|>tools<|sep|>", "<|open|>tools<|sep|>"),
        ("<|close|>tools<|sep|>",),
        ("<|close|>message<|sep|>",),
    ),
    CallMarkup("Kimi K3", ("<|open|>call tool=",), ("<|close|>call<|sep|>",)),
    CallMarkup("MiroThinker", ("<use_mcp_tool>",), ("</use_mcp_tool>",)),
    CallMarkup("Seed-OSS", ("<seed:tool_call>",), ("</seed:tool_call>",)),
    CallMarkup("LongCat", ("<longcat_tool_call>",), ("</longcat_tool_call>",)),
    CallMarkup("Nemotron", ("<TOOLCALL>",), ("</TOOLCALL>",)),
    CallMarkup("Granite 3, Phi-4 mini", ("<|tool_call|>",), ("<|/tool_call|>", "</|tool_call|>")),
    CallMarkup("Gemma 4", ("<|tool_call>",), ("<tool_call|>",)),
    CallMarkup("FunctionGemma", ("<start_function_call>",), ("<end_function_call>",)),
    CallMarkup("LFM2", ("<|tool_call_start|>",), ("<|tool_call_end|>",)),
    CallMarkup("Llama 3.1", ("<|python_tag|>",), ("<|eom_id|>",)),
    CallMarkup("Llama 4", ("<|python_start|>",), ("<|python_end|>",)),
    CallMarkup("Mistral", ("[TOOL_CALLS]",), ("[/TOOL_CALLS]",), ("[ARGS]", "[CALL_ID]")),
    CallMarkup("Command R", ("<|START_ACTION|>",), ("<|END_ACTION|>",)),
    CallMarkup("Apertus", ("<|tools_prefix|>",), ("<|tools_suffix|>",)),
    CallMarkup("InternLM", ("<|action_start|>",), ("<|action_end|>",), ("<|plugin|>", "<|interpreter|>")),
    CallMarkup("Kimi K2", ("<|tool_calls_section_begin|>",), ("<|tool_calls_section_end|>",), _KIMI_WITHIN),
    CallMarkup("Kimi K2, its section left out", ("<|tool_call_begin|>",), ("<|tool_call_end|>",)),
    CallMarkup("DeepSeek", ("<｜tool▁calls▁begin｜>",), ("<｜tool▁calls▁end｜>",), _DEEPSEEK_WITHIN),
    CallMarkup("DeepSeek, its section left out", ("<｜tool▁call▁begin｜>",), ("<｜tool▁call▁end｜>",)),
    CallMarkup("DeepSeek 3.2", ("<｜DSML｜function_calls>",), ("</｜DSML｜function_calls>",)),
    CallMarkup("DeepSeek 4", ("<｜DSML｜tool_calls>",), ("</｜DSML｜tool_calls>",)),
    CallMarkup("DeepSeek, its section left out", ("<｜DSML｜invoke name=",), ("</｜DSML｜invoke>",)),
    CallMarkup("Step 3", ("<｜tool_calls_begin｜>",), ("<｜tool_calls_end｜>",), _STEP_WITHIN),
    CallMarkup("Step 3", ("<steptml:invoke name=",), ("</steptml:invoke>",)),
    CallMarkup(
        "gpt-oss",
        (
            "<|channel|>commentary to=",
            "<|channel|>analysis to=",
            *(
                f"{end}<|start|>assistant{channel} to="
                for end in ("", "<|end|>")
                for channel in ("", "<|channel|>commentary", "<|channel|>analysis")
            ),
        ),
        ("<|call|>",),
        ("<|constrain|>json", "<|channel|>commentary", "<|message|>", "<|start|>assistant"),
    ),
    CallMarkup("gpt-oss, its tokens left out", ("commentary to=functions.",), (), ("assistantcommentary",)),
)
"""What else is not markup: bare JSON, Python, and code fences, which a reader knows by themselves."""

ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|return|>",
    "<|end|>",
    "<end_of_turn>",
    "<turn|>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
    "<|close|>response<|sep|>",
    "<|close|>message<|sep|>",
    "<|eom|>",
    "<|message_sep|>",
    "<|end_message|>",
)
"""How turns end; what a server leaves of it at the very end of an answer says nothing."""

QUOTES = frozenset("`'\"“”‘’«»")
"""What stands directly before or after a markup that a text only speaks of."""


def any_of(marks: Iterable[str]) -> re.Pattern[str]:
    """The pattern that finds the first of ``marks``, the longest where several begin alike."""
    return re.compile(_alternatives(frozenset(marks)))


def _alternatives(marks: Iterable[str]) -> str:
    """``marks`` as a pattern that tries each beginning once, however many share it: ``<(?:a|b)``."""
    by_first: dict[str, list[str]] = {}
    for mark in sorted(marks):
        by_first.setdefault(mark[:1], []).append(mark[1:])
    ended = [""] if by_first.pop("", None) else []
    written: list[str] = []
    for first, rests in by_first.items():
        rest = _alternatives(rests)
        written.append(re.escape(first) + (f"(?:{rest})" if len(rests) > 1 else rest))
    return "|".join([*written, *ended])


def halves(marks: Iterable[str]) -> frozenset[str]:
    """What a text may end with that is the beginning of one of ``marks``."""
    return frozenset(mark[:size] for mark in marks for size in range(1, len(mark)))


def held_from(text: str, beginnings: frozenset[str], longest: int, start: int = 0) -> int:
    """Where the end of ``text`` may be the beginning of a mark; ``beginnings`` are those of all."""
    for place in range(max(start, len(text) - longest + 1), len(text)):
        if text[place:] in beginnings:
            return place
    return len(text)
