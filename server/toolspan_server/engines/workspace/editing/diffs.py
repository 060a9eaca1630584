"""Unified diffs of texts, within bounds of time."""

from __future__ import annotations

from difflib import unified_diff

_MOST_WORK = 4_000_000
_CONTEXT = 3
_HEAD = 2


def unified(before: str, after: str, path: str, most: int) -> str:
    """What differs between two versions of ``path``, at most ``most`` characters of it.

    Of large differences the lines in between are shown as removed and added whole.
    """
    lines = _diff_lines(before.splitlines(), after.splitlines(), path, path)
    if before != after and len(lines) == _HEAD:
        lines.append("\\ only ends of lines differ")
    return _cut("\n".join(lines) + "\n", most)


def whole_diff(before: str | None, after: str | None, path: str) -> str:
    """What differs between two versions of ``path``, for a person who decides about it: all of it, with no
    character taken for the end of a line but the line feed, and ends of lines shown where they differ.

    ``None`` is no file.
    """
    texts = [before or "", after or ""]
    if all(text.count("\n") == text.count("\r\n") == text.count("\r") for text in texts):
        texts = [text.replace("\r\n", "\n") for text in texts]
    old, new = (_exact_lines(text) for text in texts)
    return "\n".join(
        _diff_lines(old, new, "/dev/null" if before is None else path, "/dev/null" if after is None else path)
    )


def _exact_lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ no line feed at the end"] if last else lines


def _diff_lines(old: list[str], new: list[str], before: str, after: str) -> list[str]:
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    start, rest = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
    shown_old, shown_new = old[start : len(old) - rest], new[start : len(new) - rest]
    lines = [f"--- {before}", f"+++ {after}"]
    if len(shown_old) * len(shown_new) > _MOST_WORK:
        lines.append(f"@@ -{first + 1},{len(old) - last - first} +{first + 1},{len(new) - last - first} @@")
        lines += [f"-{line}" for line in old[first : len(old) - last]]
        lines += [f"+{line}" for line in new[first : len(new) - last]]
    else:
        made = list(unified_diff(shown_old, shown_new, lineterm="", n=_CONTEXT))[2:]
        lines += [_moved(line, start) if line.startswith("@@") else line for line in made]
    return lines


def _common(one: list[str], other: list[str]) -> int:
    """How many lines at the start are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _moved(header: str, lines: int) -> str:
    """``@@ -1,4 +1,5 @@`` of texts that start ``lines`` lines later."""
    _, old, new, _ = header.split(" ")
    return f"@@ -{_shifted(old, lines)} +{_shifted(new, lines)} @@"


def _shifted(part: str, lines: int) -> str:
    number, comma, count = part[1:].partition(",")
    return f"{int(number) + lines}{comma}{count}"


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    kept = text[: text.rfind("\n", 0, most) + 1]
    return f"{kept}… [cut: the diff has {len(text):,} characters]\n"
