"""Accepted calls as text of Python: only plain ones may come to a checker that evaluates them."""

from __future__ import annotations

import ast

__all__ = ["is_plain_call"]


def is_plain_call(text: str, names: frozenset[str]) -> bool:
    """Whether ``text`` is a call of one of ``names``, all of whose arguments are plain values."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in names:
            return False
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return all(keyword.arg for keyword in call.keywords)
