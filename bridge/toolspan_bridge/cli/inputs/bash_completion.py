"""Completion in bash for names with blanks, colons and characters that a shell reads as its own.

bash hands a completion the line in words that also end at ``:`` and ``=``, so that ``ollama/qwen3:8b`` would
be three, and inserts what it is given as it is. So the line itself is read here, and each value is written as
the end of the word that bash is about to replace, such that nothing of it is ever expanded or run.
"""

from __future__ import annotations

import os
import re
from typing import ClassVar

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string
from typing_extensions import override

_SCRIPT = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(env COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" \\
        COMP_WORD="${COMP_WORDS[COMP_CWORD]}" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
_QUOTED = re.compile(r"[^\w@%+=:,./-]")
_IN_DOUBLE_QUOTES = re.compile(r"[\\\"$`]")
_BREAKS = (":", "=")


class BashCompletion(BashComplete):
    """What ``toolspan completion bash`` prints, and what that function then asks this program for."""

    source_template: ClassVar[str] = _SCRIPT

    @override
    def get_completion_args(self) -> tuple[list[str], str]:
        if "COMP_LINE" not in os.environ:  # a function that an earlier version printed
            return super().get_completion_args()
        line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
        words = split_arg_string(line)
        begins_another = line[-1:].isspace() and not words[-1][-1:].isspace()
        incomplete = words.pop() if words[1:] and not begins_another else ""
        return words[1:], incomplete

    @override
    def format_completion(self, item: CompletionItem) -> str:
        word, incomplete = os.environ.get("COMP_WORD", ""), self.get_completion_args()[1]
        value = str(item.value)
        kept = value.removeprefix(_before(word, incomplete))
        return f"{item.type},{_written(kept, _open_quote(word))}"


def _before(word: str, incomplete: str) -> str:
    """What of ``incomplete`` stands before the ``word`` that bash replaces."""
    if word in _BREAKS:
        return incomplete
    return incomplete.removesuffix(word) if word and incomplete.endswith(word) else ""


def _open_quote(word: str) -> str:
    """The quote within which ``word`` ends; empty where it ends outside of any."""
    quote, is_escaped = "", False
    for character in word:
        if is_escaped:
            is_escaped = False
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
    return quote


def _written(text: str, quote: str) -> str:
    """``text`` as bash reads it literally within ``quote``. ``!`` stands outside of double quotes, in which
    nothing hides it from the history. bash closes the quote, unless the text seems to have done so."""
    if not quote:
        return _QUOTED.sub(_escaped, text)
    if quote == "'":
        written = text.replace("'", r"'\''")
    else:
        written = _IN_DOUBLE_QUOTES.sub(_escaped, text).replace("!", "\"'!'\"")
    return written + quote if written.endswith(quote) else written


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def complete_in_bash_so() -> None:
    """Have bash completed by ``BashCompletion``."""
    add_completion_class(BashCompletion)
