"""Variables of the environment as a check of a config sees them: all are set, and none is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from typing_extensions import override

_ADDRESS = ("URL", "URI", "HOST", "ENDPOINT", "BASE", "ISSUER")


class UnreadVariables(Mapping[str, str]):
    """Gives every variable a value that fits where texts, tokens or addresses are wanted, by its name."""

    @override
    def __getitem__(self, name: str) -> str:
        if any(word in name.upper() for word in _ADDRESS):
            return "https://variable.example"
        return "value-of-the-variable-that-is-not-read-here"

    @override
    def __contains__(self, name: object) -> bool:
        return True

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(())

    @override
    def __len__(self) -> int:
        return 0
