"""RFC 9535 JSONPath: what of a JSON answer is the result."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from ...common.re2_patterns import compiled
from ...errors import ToolFailure
from ._errors import bad_response

if TYPE_CHECKING:
    import jsonpath

MAX_MATCHES = 100_000
"""How many values one path may give."""

_LONGEST = 1_000
_MAX_PATTERN_MEMORY = 1 << 20


class ResponsePath:
    """A path that was read once. Raises ``ValueError`` when ``text`` is none.

    ``singular``: whether it leads to one value at most (RFC 9535, 2.3.5.1).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._path = _compiled(text)
        self.singular = bool(self._path.singular_query())

    def of(self, data: Any) -> Any:
        """The value that a singular path leads to, which may be null; else the list of all that match.

        Raises ``ToolFailure`` when a singular path leads nowhere, and when too many values match.
        """
        found = self._found(data)
        if len(found) > MAX_MATCHES:
            raise bad_response(f"response_path matches more than {MAX_MATCHES:,} values of the answer")
        if not self.singular:
            return found
        if found:
            return found[0]
        raise ToolFailure(
            f"The answer has nothing at {self.text}",
            error_code="no_match",
            user_action="Check the arguments; or correct response_path in the tool's config.",
        )

    def _found(self, data: Any) -> list[Any]:
        if isinstance(data, str):  # the library would parse it
            return [data] if self.text == "$" else []
        try:
            return [match.obj for match in islice(self._path.finditer(data), MAX_MATCHES + 1)]
        except (ValueError, RecursionError, _library().JSONPathError):
            raise bad_response("response_path cannot be applied to the answer") from None


def _compiled(text: str) -> jsonpath.JSONPath:
    library = _library()
    if len(text) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST:,} characters")
    try:
        path = _environment().compile(text)
    except (library.JSONPathError, RecursionError) as error:
        cause = str(error.args[0]) if error.args else ""
        reason = f": {cause.splitlines()[0][:200]}" if cause else ""
        raise ValueError(f"is no JSONPath (RFC 9535){reason}") from None
    return cast("jsonpath.JSONPath", path)  # a strict path is no union


@cache
def _environment() -> jsonpath.JSONPathEnvironment:
    environment: jsonpath.JSONPathEnvironment = _library().JSONPathEnvironment(strict=True)
    environment.function_extensions["match"] = _Matching(environment.function_extensions["match"], whole=True)
    environment.function_extensions["search"] = _Matching(
        environment.function_extensions["search"], whole=False
    )
    return environment


class _Matching:
    """``match`` and ``search`` in linear time, since the pattern may come from the answer."""

    def __init__(self, standard: Any, *, whole: bool) -> None:
        self.arg_types = standard.arg_types
        self.return_type = standard.return_type
        self._whole = whole

    def __call__(self, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        try:
            regex = compiled(pattern, max_memory=_MAX_PATTERN_MEMORY)
            found = regex.fullmatch(value) if self._whole else regex.search(value)
        except ValueError:
            return False
        return found is not None


def _library() -> Any:
    import jsonpath

    return jsonpath
