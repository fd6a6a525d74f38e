"""Regular expressions that are looked for in URLs, in bounded time whatever the expression and the URL.

Python's ``re`` backtracks: ``(a+)+$`` takes 2^n steps on n letters, and holds the interpreter meanwhile. Expressions come from
operators and callers of a service, URLs from hostile pages, so either may be made for this. Here

    ways(e)     is how many ways there are, at most, to match e from one place of a URL: the product of the choices in it,
                where a repeat of a body with w ways has (most - least + 1) * w^most, and the longest URL counts as no limit;
    few         ways times places: ``re`` tries them all in about a millisecond, and is used;
    many        an automaton is used, which is in all its states at once: one step a character, no way back. Transitions are
                kept, so that most steps are one look-up (about 60 ns a character; ``re`` takes a few).

Both look at the first ``MAX_SIGNS`` characters of a URL, which is as long as pages may link to. Back references and
lookarounds are no matter of automata: an expression that has them and many ways is refused, and so is one of more than
``MAX_STATES`` states. To compile a range that ignores case, ``re`` folds its characters one by one (8 ms for a large one): the
ranges of an expression may have ``MAX_RANGED`` characters in all.

K. Thompson: Regular expression search algorithm. Communications of the ACM 11(6), 1968.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from frontrank.errors import InputError

MAX_SIGNS = 2_083  # of a URL that are looked at: pages.html.MAX_URL_LENGTH
MAX_STEPS = 2**15  # of backtracking: 0.4 to 1.3 ms, which every URL of a crawl may cost
MAX_RANGED, FOLDED = 2**19, 2**16  # characters of ranges in all; ``re`` folds the first ones of each
MAX_STATES = 500
MAX_KEPT = 50_000  # transitions of one automaton

_ONE = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN, _constants.AT, _constants.GROUPREF)
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_CHARACTERS = re.ASCII | re.LOCALE | re.UNICODE
_STARTS = (_constants.AT_BEGINNING, _constants.AT_BEGINNING_STRING)
_WORD, _ASCII_WORD = re.compile(r"\w"), re.compile(r"\w", re.ASCII)

Search = Callable[[str], object]  # true if it is found


@lru_cache(maxsize=2_000)
def searcher(pattern: str) -> Search:
    """What looks for a regular expression in URLs; InputError if it is none, or none that takes bounded time.

    >>> [bool(searcher(r"/(\\d+/)+x$")(url)) for url in ("http://a.org/1/22/x", "http://a.org/1/22/xy")]
    [True, False]
    >>> bool(searcher("(a+)+$")("a" * 2000 + "b"))
    False
    """
    parsed = parse(pattern)
    flags = parsed.state.flags
    try:
        compiled = re.compile(pattern)
        places = 1 if _is_anchored(parsed, flags) else MAX_SIGNS
        if ways(parsed) * places <= MAX_STEPS:
            search = compiled.search
            return lambda url: search(url, 0, MAX_SIGNS)
        return _Automaton(parsed, flags).search
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"pattern must be a regular expression, got {pattern!r} ({error})") from None
    except _TooHard as error:
        raise InputError(
            f"pattern must be one that takes bounded time on every URL, got {pattern!r}: it has very many ways to match, "
            f"and {error}; write it with fewer repeats (*, +, {{m,n}}), or begin it with ^"
        ) from None


def parse(pattern: str) -> Any:
    """A regular expression as a tree, made quickly; InputError if it is none, or would take long to compile."""
    try:
        parsed = _parser.parse(pattern)
        ranged = _ranged(parsed)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"pattern must be a regular expression, got {pattern!r} ({error})") from None
    if ranged > MAX_RANGED:
        raise InputError(
            f"pattern must have ranges of at most {MAX_RANGED:,} characters in all, got {pattern!r} with {ranged:,}; "
            f"write it with fewer or narrower ranges ([a-z])"
        )
    return parsed


def _ranged(parsed: Any) -> int:
    """How many characters of ranges are folded if case is ignored."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and parsed[0] is _constants.RANGE:
        return min(int(parsed[1][1]) - int(parsed[1][0]) + 1, FOLDED)
    return sum(map(_ranged, parsed)) if isinstance(parsed, tuple | list | _parser.SubPattern) else 0


def ways(parsed: Any) -> float:
    """How many ways to match there are, at most.

    >>> [ways(_parser.parse(text)) for text in ("abc", "https?:", "(a|bc)(d|e?)", "a{2,5}", "(a|bc){1,3}")]
    [1.0, 2.0, 6.0, 4.0, 24.0]
    """
    return math.prod((_ways(kind, given) for kind, given in parsed), start=1.0)


def _ways(kind: Any, given: Any) -> float:
    if kind in _ONE:
        return 1.0
    if kind is _constants.BRANCH:
        return sum(ways(branch) for branch in given[1])
    if kind is _constants.SUBPATTERN:
        return ways(given[3])
    if kind is _constants.ATOMIC_GROUP:
        return ways(given)
    if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
        return ways(given[1])
    if kind in _REPEATS:
        least, most = (min(int(number), MAX_SIGNS) for number in given[:2])
        each = ways(given[2])
        return math.inf if most * math.log2(each) > 60 else (most - least + 1) * each**most
    return math.inf


def _is_anchored(parsed: Any, flags: int) -> bool:
    first = parsed.data[0] if parsed.data else None
    return first is not None and first[0] is _constants.AT and first[1] in _STARTS and not flags & re.MULTILINE


class _TooHard(Exception):
    """No automaton of this kind."""


class _State(dict[str, Any]):
    """A set of states of the automaton, and what it knows of the character before; by the next character: the next set."""

    __slots__ = ("before", "states")

    def __init__(self, states: frozenset[int], before: tuple[bool, ...]) -> None:
        super().__init__()
        self.states, self.before = states, before


class _Automaton:
    """States by number: 0 is the end. Each is ("sign", test, next), ("at", (kind, flags), next) or ("or", None, nexts)."""

    def __init__(self, parsed: Any, flags: int) -> None:
        self._nodes: list[tuple[str, Any, Any]] = [("end", None, None)]
        self._tests: dict[tuple[str, int], re.Pattern[str]] = {}
        self._start = self._sequence(parsed, flags, 0)
        self._known: dict[tuple[frozenset[int], tuple[bool, ...]], _State] = {}
        self._kept = 0
        self._begin = self._state(frozenset([self._start]), ())

    def search(self, text: str) -> bool:
        signs: Any = text[:MAX_SIGNS]
        if signs.endswith("\n"):
            signs = [*signs[:-1], "\n\n"]  # the last one: a line may end before it
        state: Any = self._begin
        for sign in signs:
            then = state.get(sign)
            if then is None:
                then = self._step(state, sign)
            if then is True:
                return True
            state = then
        return (state.get("") or self._step(state, "")) is True

    # Steps --------------------------------------------------------------------------------------------------------------
    def _step(self, state: _State, sign: str) -> Any:
        """Where a character leads: True if the expression was found before it. The empty one is the end."""
        reached = self._reached(state, sign)
        then: Any = True
        if 0 not in reached:
            found = [node for node in map(self._nodes.__getitem__, reached) if node[0] == "sign"]
            states = frozenset([self._start, *(node[2] for node in found if sign and node[1].fullmatch(sign[0]))])
            kind = (bool(_WORD.match(sign)), bool(_ASCII_WORD.match(sign)), sign[:1] == "\n")
            then = self._state(states, kind)
        if self._kept > MAX_KEPT:
            self._known, self._kept = {}, 0
            self._begin = self._state(frozenset([self._start]), ())
        state[sign] = then
        self._kept += 1
        return then

    def _state(self, states: frozenset[int], before: tuple[bool, ...]) -> _State:
        return self._known.setdefault((states, before), _State(states, before))

    def _reached(self, state: _State, sign: str) -> set[int]:
        """All states that are reached without a character, between the one before and this one."""
        seen, left = set(state.states), list(state.states)
        while left:
            kind, given, then = self._nodes[left.pop()]
            if kind == "or" or (kind == "at" and _holds(given, state.before, sign)):
                for one in then if kind == "or" else (then,):
                    if one not in seen:
                        seen.add(one)
                        left.append(one)
        return seen

    # States, from the last to the first ---------------------------------------------------------------------------------
    def _node(self, kind: str, given: Any, then: Any) -> int:
        if len(self._nodes) >= MAX_STATES:
            raise _TooHard(f"more than {MAX_STATES} states")
        self._nodes.append((kind, given, then))
        return len(self._nodes) - 1

    def _sequence(self, parsed: Any, flags: int, then: int) -> int:
        for kind, given in reversed(list(parsed)):
            then = self._made(kind, given, flags, then)
        return then

    def _made(self, kind: Any, given: Any, flags: int, then: int) -> int:
        if kind is _constants.AT:
            return self._node("at", (given, flags), then)
        if kind in _ONE and kind is not _constants.GROUPREF:
            return self._node("sign", self._test(kind, given, flags), then)
        if kind is _constants.BRANCH:
            return self._node("or", None, [self._sequence(branch, flags, then) for branch in given[1]])
        if kind is _constants.SUBPATTERN:
            if given[1] & _CHARACTERS:  # one of them takes the place of another
                flags &= ~_CHARACTERS
            return self._sequence(given[3], (flags | given[1]) & ~given[2], then)
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            return self._repeated(int(given[0]), given[1], given[2], flags, then)
        raise _TooHard("a back reference, a lookaround or a possessive repeat")

    def _repeated(self, least: int, most: Any, body: Any, flags: int, then: int) -> int:
        if most is _constants.MAXREPEAT:
            again = self._node("or", None, [then])
            self._nodes[again][2].append(self._sequence(body, flags, again))
            then = again
        else:
            end = then
            for _ in range(int(most) - least):
                then = self._node("or", None, [end, self._sequence(body, flags, then)])
        for _ in range(least):
            then = self._sequence(body, flags, then)
        return then

    def _test(self, kind: Any, given: Any, flags: int) -> re.Pattern[str]:
        """What ``re`` itself says of one character."""
        key = (f"{kind} {given}", flags)
        if key not in self._tests:
            state = _parser.State()
            state.flags = flags
            self._tests[key] = _compiler.compile(_parser.SubPattern(state, [(kind, given)]), flags)
        return self._tests[key]


def _holds(given: tuple[Any, int], before: tuple[bool, ...], sign: str) -> bool:
    """Whether a place is one of this kind: between these characters, of which there may be none."""
    kind, flags = given
    if kind in _STARTS:
        lines = kind is _constants.AT_BEGINNING and flags & re.MULTILINE
        return not before or bool(lines and before[2])
    if kind is _constants.AT_END_STRING:
        return not sign
    if kind is _constants.AT_END:
        return not sign or sign == "\n\n" or bool(flags & re.MULTILINE and sign == "\n")
    ascii_only = bool(flags & re.ASCII)
    after = bool((_ASCII_WORD if ascii_only else _WORD).match(sign))
    edge = (bool(before) and before[ascii_only]) != after
    return edge if kind is _constants.AT_BOUNDARY else not edge
