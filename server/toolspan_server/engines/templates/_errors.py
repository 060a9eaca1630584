"""What can be wrong with a template: its text when it is read, its data when it is filled in.

ValueError  └── TemplateError      the operator: the text is no template
ToolFailure └── RenderFailure      the model: the data does not fit the template
                └── MissingValue
"""

from __future__ import annotations

from ...errors import ToolFailure

Path = tuple[str | int, ...]


class TemplateError(ValueError):
    """A text is no template. ``offset`` is where in it (0 is its first character), ``path`` where the text
    stands in the value that was compiled."""

    def __init__(self, message: str, offset: int, path: Path = ()) -> None:
        super().__init__(f"{message}, at character {offset + 1} of the template")
        self.message = message
        self.offset = offset
        self.path = path


class RenderFailure(ToolFailure):
    """A template cannot be filled in with the data of this call."""

    error_code = "template_failed"
    user_action = "Check the arguments; or correct the template in the config."


class MissingValue(RenderFailure):
    """A template uses a value that is not there. ``path`` is what it asked for."""

    error_code = "missing_value"
    user_action = 'Give the value; or write | default("…") after it in the template.'

    def __init__(self, path: Path) -> None:
        super().__init__(f"'{written(path)}' has no value here")
        self.path = path


def written(path: Path) -> str:
    """``path`` as a template writes it."""
    import json

    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("-", "_").isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text
