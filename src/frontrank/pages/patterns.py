"""Regular expressions that are looked for in URLs, in time that is linear in a URL's length, whatever the expression.

Python's ``re`` backtracks: ``(a+)+$`` takes 2^n steps on n letters, and holds the interpreter meanwhile. Expressions come from
operators and callers of a service, URLs from hostile pages, so either may be written to exploit this. RE2 is an automaton that
does not backtrack, of at most ``MAX_MEMORY`` bytes: the worst of 25 hostile expressions takes 20 ms on the worst of 36 long
URLs. It knows no look-around, no back references and no possessive repeats; ``\\w``, ``\\d`` and ``\\b`` are about ASCII; ``$``
is the end of the URL. An expression that has one way to match from each place (no choice, no repeat) is left to ``re``, which
takes a tenth of RE2's time there, with the same meaning.

Both look at the first ``MAX_CHARACTERS`` characters of a URL, which is as long as pages may link to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from frontrank.errors import InputError

MAX_CHARACTERS = 2_083  # of a URL that are looked at: pages.html.MAX_URL_LENGTH
MAX_MEMORY = 2**18  # bytes of one expression's program and its states
ONE_WAY = re.compile(
    r"\^?(?:[^*+?{}|()\\\[\]$^]|\\[dDwWbB./?+*$()|{}-]|\[\^?(?:\w-\w|[\w./:=%@!,; ])+\])*", re.ASCII
)  # an expression without a choice or a repeat, and without what re and RE2 mean differently
PYTHON_END = re.compile(r"(?<!\\)((?:\\\\)*)\\Z")  # RE2 writes a small z
MISTAKES = ("missing", "unexpected", "no argument", "trailing")  # how RE2 begins about what is an expression nowhere

Search = Callable[[str], object]  # true if it is found


@lru_cache(maxsize=2_000)
def searcher(pattern: str) -> Search:
    """What looks for a regular expression in URLs; InputError for text that is not one, or that may take unbounded time.

    >>> [bool(searcher(r"/(\\d+/)+x$")(url)) for url in ("http://a.org/1/22/x", "http://a.org/1/22/xy")]
    [True, False]
    >>> bool(searcher("(a+)+$")("a" * 2000 + "b"))
    False
    >>> searcher("(?!a)b")
    Traceback (most recent call last):
    frontrank.errors.InputError: ... got '(?!a)b' (invalid perl operator: (?!); look-around, back references ...
    """
    end = r"\Z" if pattern.endswith("$") and not pattern.endswith("\\$") else ""
    start = pattern[: -len("$")] if end else pattern
    with suppress(re.error):  # RE2 says the same, and more
        if ONE_WAY.fullmatch(start):
            search = re.compile(start + end, re.ASCII).search
            return lambda url: search(url, 0, MAX_CHARACTERS)
    return _automaton(pattern)


def _automaton(pattern: str) -> Search:
    import re2

    try:
        find = re2.compile(PYTHON_END.sub(r"\1\\z", pattern).encode(), _options()).search
    except re2.error as error:
        raise _refusal(pattern, error.args[0].decode()) from None
    except UnicodeEncodeError:
        raise _refusal(pattern, "it is no valid Unicode") from None
    return lambda url: find(url[:MAX_CHARACTERS].encode("utf-8", "surrogatepass"))


def _refusal(pattern: str, why: str) -> InputError:
    if why.startswith(MISTAKES):
        return InputError(f"pattern must be a regular expression, got {pattern!r} ({why})")
    return InputError(
        f"pattern must be a regular expression that takes bounded time on every URL, got {pattern!r} ({why}); "
        "look-around, back references and possessive repeats are not known; see github.com/google/re2/wiki/Syntax"
    )


@cache
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors, options.never_capture, options.max_mem = False, True, MAX_MEMORY
    return options
