"""Arithmetic in a text: digits, signs and the words for them, as one expression."""

from __future__ import annotations

import ast
import re

from ._words import listed

_LONGEST = 1_000
_UNITS = listed(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
)
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS = {
    **{word: str(value) for value, word in enumerate(_UNITS)},
    **{word: str(20 + 10 * place) for place, word in enumerate(_TENS)},
}

_SHARE_OF = "(?:[a-z]+ ){0,2}?(?:of|on|from|off|for) (?:an? |the |my )?(?:[a-z]+ of )?"
_NUMBER = r"\d+(?:\.\d+)?"
_WORDED = (
    # Dates, times, telephone numbers and addresses look like sums and are none.
    (
        r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{1,2}:\d{2}\b|\b\d{3}-\d{3,4}(?:-\d{4})?\b",
        " ; ",
    ),
    (r"https?://\S+|\S+@\S+", " ; "),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"[$€£]\s*(?=\d)", ""),
    (r"×|\bx\b(?=\s*\d)|\btimes\b|\bmultiplied by\b", "*"),
    (r"÷|\bdivided by\b|\bover\b", "/"),
    (r"−|\bminus\b|\bless\b", "-"),
    (r"\bplus\b", "+"),
    (r"\bmodulo\b|\bmod\b", "%%"),
    (r"\^|\bto the power of\b|\braised to\b", "**"),
    (r"\bsquared\b", "**2"),
    (r"\bcubed\b", "**3"),
    (r"\b(?:percent|per cent)\b", "%"),
    (r"\b(?:square root|sqrt) of (?:the )?", "sqrt "),
    (r"\b(sin|cos|tan)(?:e|ine|gent)? of ", r"\1 "),
    (r"\b(?:natural )?log(?:arithm)? of ", "log "),
    (r"\babsolute value of ", "abs "),
    (rf"\b(sqrt|sin|cos|tan|log|abs)\s+(-?{_NUMBER})", r"\1(\2)"),
    (rf"\bhalf of ({_NUMBER})", r"\1 / 2"),
    (rf"({_NUMBER})\s*%(?!%)\s*{_SHARE_OF}({_NUMBER})", r"\2 * \1 / 100"),
    (rf"({_NUMBER})\s*%(?![%\d])", r"\1 / 100"),
    (r"%%", "%"),
)
_REWRITES = tuple((re.compile(pattern), replacement) for pattern, replacement in _WORDED)
_NUMBER_WORD = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[- ]({'|'.join(_UNITS[1:10])}))?|({'|'.join(_UNITS)}))\b"
)
_TOKEN = re.compile(
    rf"({_NUMBER}|\*\*|//|[-+*/%(),]|\b(?:sqrt|sin|cos|tan|log|abs|min|max|pow|round|sum|pi)\b)|(\S)"
)
_OPERATION = re.compile(r"\d\s*(?:\*\*|//|[-+*/%])\s*[-(\da-z]|\)\s*[-+*/%]|[a-z]\(")


def expression(text: str) -> str:
    """The longest arithmetic expression that ``text`` holds, ``""`` when it holds none.

    Words are arithmetic too: ``15% tip on $45`` is ``45 * 15 / 100``, ``square root of 16`` is ``sqrt(16)``.
    """
    rewritten = _NUMBER_WORD.sub(_digits, text[:_LONGEST].lower())
    for pattern, replacement in _REWRITES:
        rewritten = pattern.sub(replacement, rewritten)
    found = [run for run in map(_trimmed, _runs(rewritten)) if run and _OPERATION.search(run)]
    return max(found, key=len, default="")


def _digits(match: re.Match[str]) -> str:
    ten, unit, alone = match.groups()
    return _NUMBERS[alone] if alone else str(int(_NUMBERS[ten]) + int(_NUMBERS[unit] if unit else 0))


def _runs(text: str) -> list[str]:
    """The stretches of ``text`` that hold nothing but parts of an expression."""
    runs: list[str] = []
    start = end = -1
    for match in _TOKEN.finditer(text):
        if match[1]:
            start = match.start() if start < 0 else start
            end = match.end()
        elif start >= 0:
            runs.append(text[start:end])
            start = -1
    if start >= 0:
        runs.append(text[start:end])
    return runs


def _trimmed(run: str) -> str:
    """``run`` without what hangs over at its ends; ``""`` when what is left is no expression."""
    run = run.strip(" ,*/%+").rstrip(" -(,")
    while run and not _parses(run):
        shorter = run[1:] if run.startswith((")", ",")) or run.count("(") > run.count(")") else run[:-1]
        run = shorter.strip(" ,*/%+").rstrip(" -(,")
    return run


def _parses(run: str) -> bool:
    try:
        ast.parse(run, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True
