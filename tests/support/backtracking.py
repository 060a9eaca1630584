"""Tell whether a pattern of ``re`` can take more steps than its text is long, without running it.

``re`` backtracks: it walks every path of the pattern's automaton that a text allows until one is accepted.
The paths that one text can take grow with it exactly if a word leads from a state p to itself, from p to
another state q, and from q to itself (A. Weber and H. Seidl, On the degree of ambiguity of finite automata,
1991; N. Weideman et al., Analyzing matching time behavior of backtracking regular expression matchers,
2016). A search is the same automaton with a first state that takes any character. States from which the
rest of the pattern is empty do not count as q: what reaches one is accepted, and nothing is walked again.

The answer errs to the safe side: a pattern that is called linear is, one that is called slow may not be. Of
what stands around a place one character on each side is looked at, which is what ``\\b``, ``^``,
``(?<!x)``, ``(?!x)`` and possessive repeats of one character need. A repeat with an upper bound is a
factor, not a growth.
"""

from __future__ import annotations

import re
import re._compiler as sre_compiler  # type: ignore[import-not-found]
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Use = Literal["search", "match", "fullmatch"]
"""How a pattern is used: from any place, from one place to any other, or over the whole text."""

_WRITTEN_OUT = 300
_FEW = 4
_MOST_WAYS = 20_000
_SAMPLES = [*range(0x180), 0x2BC, 0x300, 0x430, 0x5D0, 0x661, 0x2019, 0x2028, 0x3000, 0x4E2D, 0xD800, 0x1F600]

Condition = tuple[int, ...]
"""For each kind of character before a place, the kinds that may follow it, as bits."""


class Way(NamedTuple):
    """Where a place goes on without a character: where that may be so at most, and where it is so for
    certain."""

    to: int
    may: Condition
    must: Condition


def explain_growth(pattern: str | bytes, flags: int = 0, use: Use = "search") -> str | None:
    """Say how the steps of ``pattern`` grow faster than its text, or return None where they do not."""
    return _Automaton(pattern, flags, use).explain_growth()


@dataclass
class _Node:
    """A place in the pattern: it takes a character of ``takes``, or goes on to ``ways`` without one."""

    takes: frozenset[int] | None = None
    ways: list[Way] = field(default_factory=list[Way])
    written: str = ""


class _Characters:
    """The kinds of characters that a pattern tells apart, by number; one more number is no character."""

    def __init__(self, tree: Any, flags: int, is_bytes: bool) -> None:
        self._as_text: Callable[[int], Any] = (lambda code: bytes([code])) if is_bytes else chr
        self._state = tree.state
        self._sets: dict[str, Any] = {}
        for node, at in _single(tree, flags):
            self._sets.setdefault(self._key(node, at), self._compiled(node, at))
        limit = 0x100 if is_bytes else 0x110000
        near = {code + by for code in _codes(tree.data) for by in (-1, 0, 1)}
        codes = sorted(code for code in {*_SAMPLES, *near} if 0 <= code < limit)
        words = re.compile(rb"\w" if is_bytes else r"\w", re.DOTALL)
        kinds: dict[tuple[bool, ...], int] = {}
        self._kind_of: dict[int, int] = {}
        self.examples: list[Any] = []
        words_of: list[bool] = []
        for code in codes:
            text = self._as_text(code)
            is_word = words.match(text) is not None
            key = (is_word, code == 10, *(each.match(text) is not None for each in self._sets.values()))
            if key not in kinds:
                kinds[key] = len(kinds)
                self.examples.append(text)
                words_of.append(is_word)
            self._kind_of[code] = kinds[key]
        self.number = len(kinds)
        self.every = frozenset(range(self.number))
        self.words = frozenset(kind for kind, is_word in enumerate(words_of) if is_word)
        self.line_end = self._kind_of[10]
        self._members = {
            name: frozenset(kind for kind, text in enumerate(self.examples) if each.match(text))
            for name, each in self._sets.items()
        }

    def of(self, node: Any, flags: int) -> frozenset[int]:
        return self._members[self._key(node, flags)]

    def _key(self, node: Any, flags: int) -> str:
        return f"{node!r} {flags & _SHAPING}"

    def _compiled(self, node: Any, flags: int) -> Any:
        state = sre_parser.State()
        state.flags = self._state.flags & ~_SHAPING | flags & _SHAPING
        state.str = self._state.str
        part = sre_parser.SubPattern(state, [node])
        return sre_compiler.compile(part, state.flags)


_SHAPING = int(re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE)
_SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)


def _codes(value: Any) -> Iterator[int]:
    """Every number in a parse tree: among them are the bounds of all its sets."""
    if isinstance(value, sre_parser.SubPattern):
        value = value.data
    if isinstance(value, list | tuple):
        for each in value:
            yield from _codes(each)
    elif isinstance(value, int) and not isinstance(value, bool) and type(value) is int:
        yield value


def _single(tree: Any, flags: int) -> Iterator[tuple[Any, int]]:
    """Every part that takes one character, with the flags that hold there."""
    for node in tree.data:
        operation, value = node
        if operation in _SINGLE:
            yield node, flags
            continue
        at = flags
        if operation is sre.SUBPATTERN:
            at = flags & ~value[2] | value[1]
        for part in _parts(value):
            yield from _single(part, at)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, sre_parser.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each)


class _Builder:
    """Makes nodes of a parse tree, from its end to its start."""

    def __init__(self, characters: _Characters) -> None:
        self.nodes: list[_Node] = []
        self._characters = characters
        self._everything = (1 << characters.number + 1) - 1
        self.always: Condition = (self._everything,) * (characters.number + 1)
        self.never: Condition = (0,) * (characters.number + 1)
        self._groups: dict[int, tuple[Any, int]] = {}
        self._is_repeated = False
        self.counted: set[int] = set()
        """Positions of repeats with an upper bound, which are no loops although they are drawn as such."""

    def add(self, *ways: int) -> int:
        self.nodes.append(_Node(ways=[self.way(way) for way in ways]))
        return len(self.nodes) - 1

    def way(self, to: int) -> Way:
        return Way(to, self.always, self.always)

    def build(self, tree: Any, flags: int, end: int) -> int:
        """The node where ``tree`` begins, which goes on at ``end``."""
        for node in tree.data:
            self._remember_groups(node, flags)
        for node in reversed(tree.data):
            end = self._one(node, flags, end)
        return end

    def _remember_groups(self, node: Any, flags: int) -> None:
        operation, value = node
        if operation is sre.SUBPATTERN and value[0] is not None:
            self._groups[value[0]] = (value[3], flags & ~value[2] | value[1])
        for part in _parts(value):
            for inner in part.data:
                self._remember_groups(inner, flags)

    def _one(self, node: Any, flags: int, end: int) -> int:
        operation, value = node
        if operation in _SINGLE:
            self.nodes.append(_Node(self._characters.of(node, flags), [self.way(end)], _written(node)))
            return len(self.nodes) - 1
        if operation is sre.SUBPATTERN:
            return self.build(value[3], flags & ~value[2] | value[1], end)
        if operation is sre.ATOMIC_GROUP:
            return self.build(value, flags, end)
        if operation is sre.BRANCH:
            return self.add(*(self.build(part, flags, end) for part in value[1]))
        if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self._repeat(operation, value, flags, end)
        if operation is sre.AT:
            return self.conditional(end, *self._at(value, flags))
        if operation in (sre.ASSERT, sre.ASSERT_NOT):
            return self._look(operation is sre.ASSERT, value, flags, end)
        if operation is sre.GROUPREF:
            part, at = self._groups[value]
            return self.build(part, at, end)
        if operation is sre.GROUPREF_EXISTS:
            _, yes, no = value
            return self.add(self.build(yes, flags, end), self.build(no, flags, end) if no else end)
        if operation is sre.FAILURE:
            return self.add()
        raise NotImplementedError(operation)

    def _repeat(self, operation: Any, value: Any, flags: int, end: int) -> int:
        least, most, part = value
        is_single = len(part.data) == 1 and part.data[0][0] in _SINGLE
        is_counted = most is not sre.MAXREPEAT and most - least > _FEW
        if is_counted and is_single and not self._is_repeated:
            end = self._counted(part, flags, end)
            most = least
        size = _size(part)
        if is_counted and self._is_repeated:
            most = sre.MAXREPEAT
        if most is not sre.MAXREPEAT and most > 1 and most * size > (_WRITTEN_OUT if is_single else 40):
            most = sre.MAXREPEAT
        if least * size > _WRITTEN_OUT:
            least = 1
        if most is sre.MAXREPEAT:
            loop = self.add()
            left = end
            if operation is sre.POSSESSIVE_REPEAT and is_single:
                taken = self._characters.of(part.data[0], flags)
                left = self.conditional(end, self.before(self._characters.every - taken, at_end=True))
            outer, self._is_repeated = self._is_repeated, True
            first = self.build(part, flags, loop)
            self._is_repeated = outer
            self.nodes[loop].ways = [self.way(first), self.way(left)]
            end = self.add(first, left)  # to come in is another way than to come round
        else:
            left = end
            for _ in range(most - least):
                end = self.add(self.build(part, flags, end), left)
        for _ in range(least):
            end = self.build(part, flags, end)
        return end

    def _counted(self, part: Any, flags: int, end: int) -> int:
        """A repeat of one character with an upper bound: it may end anywhere, and nothing is sure of it."""
        loop = self.add()
        first = self.build(part, flags, loop)
        self.counted.add(first)
        self.nodes[loop].ways = [Way(to, self.always, self.never) for to in (first, end)]
        return loop

    def conditional(self, end: int, may: Condition, must: Condition | None = None) -> int:
        self.nodes.append(_Node(ways=[Way(end, may, may if must is None else must)]))
        return len(self.nodes) - 1

    def before(self, kinds: frozenset[int], at_end: bool) -> Condition:
        """The condition that the next character is of ``kinds``, or is none."""
        bits = sum(1 << kind for kind in kinds) | (at_end << self._characters.number)
        return (bits,) * (self._characters.number + 1)

    def _after(self, kinds: frozenset[int], at_start: bool) -> Condition:
        inside = (self._everything if kind in kinds else 0 for kind in range(self._characters.number))
        return (*inside, self._everything if at_start else 0)

    def _at(self, place: Any, flags: int) -> tuple[Condition, Condition]:
        line_end = frozenset([self._characters.line_end])
        if place is sre.AT_BEGINNING and flags & re.MULTILINE:
            found = self._after(line_end, at_start=True)
        elif place in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            found = self._after(frozenset(), at_start=True)
        elif place is sre.AT_END and not flags & re.MULTILINE:
            return self.before(line_end, at_end=True), self.before(frozenset(), at_end=True)
        elif place is sre.AT_END:
            found = self.before(line_end, at_end=True)
        elif place is sre.AT_END_STRING:
            found = self.before(frozenset(), at_end=True)
        else:
            words = sum(1 << kind for kind in self._characters.words)
            others = self._everything & ~words
            if place is sre.AT_NON_BOUNDARY:
                words, others = others, words
            kinds = range(self._characters.number + 1)
            found = tuple(others if kind in self._characters.words else words for kind in kinds)
        return found, found

    def _look(self, is_wanted: bool, value: Any, flags: int, end: int) -> int:
        """What looks ahead or back walks its own part, comes to nothing there, and holds or does not."""
        direction, part = value
        begins, alone = self._beginnings(part, flags)
        every, nothing = self._characters.every, frozenset[int]()
        if is_wanted:
            may, must, at_end = begins, alone, begins is None
        else:
            may, must, at_end = every - alone, nothing if begins is None else every - begins, True
        make = self.before if direction > 0 else self._after
        if direction < 0 and not _is_single(part):
            may, must, at_end = None, nothing, True
        widest = self.always if may is None else make(may, at_end)
        surest = self.never if not must else make(must, at_end and begins is not None)
        here = self.conditional(end, widest, surest)
        if direction > 0 and _is_unbounded(part):
            self.nodes[here].ways.insert(0, self.way(self.build(part, flags, self.add())))
        return here

    def _beginnings(self, part: Any, flags: int) -> tuple[frozenset[int] | None, frozenset[int]]:
        """The characters with which ``part`` begins, None if it may be empty, and those that are enough
        alone."""
        nothing = frozenset[int]()
        if not part.data:
            return None, nothing
        (operation, value), *rest = part.data
        begins: frozenset[int] | None = None
        alone = nothing
        if operation in _SINGLE:
            begins = alone = self._characters.of(part.data[0], flags)
        elif operation is sre.SUBPATTERN:
            begins, alone = self._beginnings(value[3], flags & ~value[2] | value[1])
        elif operation is sre.BRANCH:
            found = [self._beginnings(each, flags) for each in value[1]]
            alone = nothing.union(*(each[1] for each in found))
            if all(each[0] is not None for each in found):
                begins = nothing.union(*(each[0] or nothing for each in found))
        elif operation in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[0] >= 1:
            begins, alone = self._beginnings(value[2], flags)
            alone = alone if value[0] == 1 else nothing
        return begins, nothing if rest else alone


def _is_single(part: Any) -> bool:
    return part.getwidth() == (1, 1)


def _size(part: Any) -> int:
    """How many characters ``part`` has with its repeats written out."""
    total = 0
    for operation, value in part.data:
        inner = sum(map(_size, _parts(value)))
        if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            least, most, _ = value
            inner *= max(1, least if most is sre.MAXREPEAT else most)
        total += 1 if operation in _SINGLE else inner
    return total


def _is_unbounded(part: Any) -> bool:
    for operation, value in part.data:
        if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and value[1] > _WRITTEN_OUT:
            return True
        if any(map(_is_unbounded, _parts(value))):
            return True
    return False


def _written(node: Any) -> str:
    operation, value = node
    if operation is sre.LITERAL:
        return repr(chr(value))
    if operation is sre.ANY:
        return "."
    return f"{operation}".lower() + f" {value}" if operation is not sre.IN else f"[{_set(value)}]"


def _set(items: Any) -> str:
    texts: list[str] = []
    for operation, value in items:
        if operation is sre.NEGATE:
            texts.append("^")
        elif operation is sre.LITERAL:
            texts.append(chr(value).encode("unicode_escape").decode())
        elif operation is sre.RANGE:
            texts.append("-".join(chr(each).encode("unicode_escape").decode() for each in value))
        else:
            texts.append(str(value).removeprefix("CATEGORY_").lower())
    return "".join(texts)


class _Automaton:
    """The automaton of one use of a pattern: its positions are the nodes that take a character."""

    def __init__(self, pattern: str | bytes, flags: int, use: Use) -> None:
        tree = sre_parser.parse(pattern, int(flags))
        flags = tree.state.flags
        self._characters = _Characters(tree, flags, isinstance(pattern, bytes))
        builder = _Builder(self._characters)
        self._accepts = end = builder.add()
        if use == "fullmatch":
            end = builder.conditional(end, builder.before(frozenset(), at_end=True))
        first = builder.build(tree, flags, end)
        self._nodes = builder.nodes
        self._counted = builder.counted
        self._always, self._never = builder.always, builder.never
        self._nodes.append(_Node(frozenset(), [builder.way(first)]))
        self._begin = len(self._nodes) - 1
        if use == "search":
            self._nodes.append(_Node(self._characters.every, [], "any place"))
            self._begin = len(self._nodes) - 1
            self._nodes[-1].ways = [builder.way(self._begin), builder.way(first)]
        self._known: dict[int, tuple[list[Way], Condition]] = {}
        self._known_next: dict[tuple[int, int, int], list[int]] = {}
        self._positions = sorted(self._reached(self._begin))
        self._reach = {position: self._reached(position) for position in self._positions}
        self._settled = self._find_settled()

    def explain_growth(self) -> str | None:
        loops = self._loops()
        for loop in loops:
            fault = self._doubled(loop) or self._twice(loop)
            if fault is not None:
                return fault
        for one in loops:
            for other in loops:
                if one is not other and (fault := self._handed_on(one, other)) is not None:
                    return fault
        return None

    def _name(self, position: int) -> str:
        return self._nodes[position].written

    def _after(self, position: int) -> tuple[list[Way], Condition]:
        """The ways from ``position`` to what takes the next character, and where the pattern surely ends
        there."""
        if (known := self._known.get(position)) is not None:
            return known
        found: list[Way] = []
        ends = self._never
        waiting = [(way, frozenset[int]()) for way in self._nodes[position].ways]
        taken = 0
        while waiting:
            way, passed = waiting.pop()
            if (taken := taken + 1) > _MOST_WAYS:
                raise NotImplementedError("too many ways between two characters")
            if self._nodes[way.to].takes is not None:
                found.append(way)
            elif way.to == self._accepts:
                ends = tuple(a | b for a, b in zip(ends, way.must, strict=True))
            elif way.to not in passed:
                for further in self._nodes[way.to].ways:
                    may = _both(way.may, further.may)
                    if any(may):
                        onward = Way(further.to, may, _both(way.must, further.must))
                        waiting.append((onward, passed | {way.to}))
        self._known[position] = found, ends
        return found, ends

    def _next(self, position: int, before: int, following: int) -> list[int]:
        key = (position, before, following)
        if (known := self._known_next.get(key)) is None:
            known = self._known_next[key] = list(
                dict.fromkeys(
                    way.to
                    for way in self._after(position)[0]
                    if way.may[before] >> following & 1 and following in self._takes(way.to)
                )
            )
        return known

    def _takes(self, position: int) -> frozenset[int]:
        taken = self._nodes[position].takes
        assert taken is not None
        return taken

    def _find_settled(self) -> set[tuple[int, int]]:
        """Positions, each with the character taken there, from which the text is accepted whatever
        follows."""
        settled = {
            (position, kind)
            for position in self._positions
            if position != self._begin
            for kind in self._takes(position)
            if self._after(position)[1][kind] >> self._characters.number & 1
        }
        while lost := {each for each in settled if not self._holds(each, settled)}:
            settled -= lost
        return settled

    def _holds(self, place: tuple[int, int], settled: set[tuple[int, int]]) -> bool:
        return all(self._goes_well(*place, following, settled) for following in self._characters.every)

    def _goes_well(self, position: int, before: int, following: int, settled: set[tuple[int, int]]) -> bool:
        """Whether what stands at ``position`` is accepted for certain if ``following`` is next."""
        ways, ends = self._after(position)
        return bool(ends[before] >> following & 1) or any(
            way.must[before] >> following & 1 and (way.to, following) in settled for way in ways
        )

    def _may_fail(self, position: int, before: int, following: int) -> bool:
        return not self._goes_well(position, before, following, self._settled)

    def _loops(self) -> list[frozenset[int]]:
        """The sets of positions that lead to each other."""
        loops: dict[int, frozenset[int]] = {}
        for position in self._positions:
            if position in self._reach[position] and position not in loops:
                members = [each for each in self._reach[position] if position in self._reach[each]]
                loops.update(dict.fromkeys(members, frozenset(members)))
        return [loop for loop in dict.fromkeys(loops.values()) if not loop <= self._counted]

    def _reached(self, position: int) -> set[int]:
        seen: set[int] = set()
        waiting = [position]
        while waiting:
            for way in self._after(waiting.pop())[0]:
                if way.to not in seen:
                    seen.add(way.to)
                    waiting.append(way.to)
        return seen

    def _doubled(self, loop: frozenset[int]) -> str | None:
        """Whether one position of ``loop`` goes on to another in two ways."""
        for position in loop:
            seen: dict[int, Condition] = {}
            for way in self._after(position)[0]:
                known = seen.get(way.to)
                if way.to in loop and known is not None and any(_both(known, way.may)):
                    return f"a repeat inside a repeat: {self._name(way.to)} is reached in two ways"
                seen[way.to] = (
                    way.may if known is None else tuple(a | b for a, b in zip(known, way.may, strict=True))
                )
        return None

    def _twice(self, loop: frozenset[int]) -> str | None:
        """Whether a word leads through ``loop`` from one position back to it in two ways."""
        waiting = [(one, one, kind) for one in loop for kind in self._takes(one)]
        seen = set(waiting)
        earlier: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
        while waiting:
            here = waiting.pop()
            for kind in self._characters.every:
                for first in self._next(here[0], here[2], kind):
                    for second in self._next(here[1], here[2], kind):
                        there = (first, second, kind)
                        if first in loop and second in loop:
                            earlier.setdefault(there, []).append(here)
                            if there not in seen:
                                seen.add(there)
                                waiting.append(there)
        waiting = [each for each in seen if each[0] == each[1]]
        home = set(waiting)
        while waiting:
            for before in earlier.get(waiting.pop(), ()):
                if before[0] != before[1]:
                    both = f"{self._name(before[0])} and {self._name(before[1])}"
                    return f"a repeat inside a repeat: {both} both take {self._shown([before[2]])}"
                if before not in home:
                    home.add(before)
                    waiting.append(before)
        return None

    def _handed_on(self, one: frozenset[int], other: frozenset[int]) -> str | None:
        """Whether a word repeats in ``one``, leads from it to ``other`` and repeats there, where it may
        fail."""
        if not any(self._reach[position] & other for position in one):
            return None
        between = {each for each in self._positions if each in other or self._reach[each] & other}
        for first in one:
            for last in other:
                for kind in self._takes(first) & self._takes(last):
                    if word := self._word((first, first, last, kind), one, between, other):
                        return f"{self._name(first)} and then {self._name(last)} both repeat over {word}"
        return None

    def _word(
        self, begin: tuple[int, int, int, int], one: frozenset[int], between: set[int], other: frozenset[int]
    ) -> str:
        """The word over which three walks go: in ``one``, from it to ``other``, and in ``other``; or ""."""
        goal = (begin[0], begin[2], begin[2], begin[3])
        came: dict[tuple[int, int, int, int], tuple[int, int, int, int] | None] = {begin: None}
        waiting = [begin]
        for here in waiting:
            for there in self._steps_together(here, one, between, other):
                if there == goal:
                    kinds = [there[3]]
                    step: tuple[int, int, int, int] | None = here
                    while step is not None and step != begin:
                        kinds.append(step[3])
                        step = came[step]
                    return self._shown(kinds[::-1])
                if there not in came:
                    came[there] = here
                    waiting.append(there)
        return ""

    def _steps_together(
        self, here: tuple[int, int, int, int], one: frozenset[int], between: set[int], other: frozenset[int]
    ) -> Iterator[tuple[int, int, int, int]]:
        first, middle, last, before = here
        for following in self._characters.every:
            if not self._may_fail(last, before, following):
                continue
            for z in self._next(last, before, following):
                for x in self._next(first, before, following) if z in other else ():
                    if x in one:
                        yield from (
                            (x, y, z, following)
                            for y in self._next(middle, before, following)
                            if y in between
                        )

    def _shown(self, kinds: list[int]) -> str:
        examples = [self._characters.examples[kind] for kind in kinds]
        return repr(examples[0][:0].join(examples))


def _both(one: Condition, other: Condition) -> Condition:
    return tuple(a & b for a, b in zip(one, other, strict=True))
