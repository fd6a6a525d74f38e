"""One robots.txt, as its bytes came: what it says to one crawler (RFC 9309), read and asked in linear time.

    longest match     of all rules that match a URL the longest holds, Allow among equals
    *  and  $         any characters; the end of the URL. Both sides are compared with the same characters escaped
    groups            those that name us hold, all of them together; if there are none, those for *
    spelling          "User agent", "Dissallow", blanks for the colon and the like are understood, as others do

A file is a stranger's: nothing here goes back over what it has read. A rule without * is looked up by its length, so thousands
of them cost a URL no more than a few lengths; one with * is searched for part by part, from left to right, and never again.
Beyond ``SLOW`` (characters of such rules times those of the URL) asking belongs in a thread: the worst file of 500 KiB takes
tenths of a second for a URL of 2,000 characters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

MAX_BYTES = 500 * 1024
MAX_SITEMAPS = 1_000
SLOW = 2_000_000  # comparisons of characters, at the worst: about a millisecond
MAX_AGENT_LENGTH = 500

USER_AGENT, ALLOW, DISALLOW, DELAY, SITEMAP, HOST, OTHER = range(7)
FIELDS = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), USER_AGENT),
    "allow": ALLOW,
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), DISALLOW),
    **dict.fromkeys(("crawl-delay", "crawl delay"), DELAY),
    **dict.fromkeys(("sitemap", "sitemaps", "site-map"), SITEMAP),
    "host": HOST,
    **dict.fromkeys(("request-rate", "request rate", "visit-time", "visit time"), OTHER),
}
INDEX = "/index.html"

_NEW_LINE = re.compile(r"\r\n|\r|\n")
_BEFORE_PATH = re.compile(r"[^:/?#]*://[^/?#]*")
_PLAIN = re.compile(r"[A-Za-z0-9_.~/=-]*").fullmatch  # nothing to escape
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")


@dataclass(slots=True)
class Group:
    """The rules for one crawler."""

    prefixes: dict[str, bool] = field(default_factory=dict)  # rules without * and $: whether they allow
    lengths: list[int] = field(default_factory=list)  # of the prefixes, longest first
    patterns: list[tuple[int, bool, list[str], bool]] = field(default_factory=list)  # length, allows, parts, ends there
    delay_s: float | None = None
    weight: int = 0  # characters of all patterns

    def add(self, allows: bool, rule: str) -> None:
        if "$" in rule:  # a dollar, or an end: as the file's author may have meant it
            self._add(allows, normalised(rule.replace("$", "%24"), "/%*"))
        whole, end = (rule[:-1], "$") if rule.endswith("$") else (rule, "")
        quoted = normalised(f"/{whole}" if whole.startswith(("http://", "https://")) else whole, "/%*") + end
        self._add(allows, quoted)
        if allows and quoted.endswith(INDEX):
            self._add(True, quoted[: 1 - len(INDEX)] + "$")

    def _add(self, allows: bool, rule: str) -> None:
        if not rule:
            return
        if "*" in rule or rule.endswith("$"):
            parts = [part for i, part in enumerate(rule.removesuffix("$").split("*")) if part or i == 0]
            if rule.removesuffix("$").endswith("*"):
                parts.append("")
            self.patterns.append((len(rule), allows, parts, rule.endswith("$")))
            self.weight += len(rule)
        else:
            self.prefixes[rule] = allows or self.prefixes.get(rule, False)

    def sort(self) -> None:
        self.lengths = sorted(set(map(len, self.prefixes)), reverse=True)
        self.patterns.sort(key=lambda pattern: pattern[:2], reverse=True)

    def allows(self, path: str) -> bool:
        length = next((n for n in self.lengths if n <= len(path) and path[:n] in self.prefixes), 0)
        best = (length, self.prefixes[path[:length]] if length else True)
        for pattern in self.patterns:
            if pattern[:2] <= best:  # what comes now is shorter, or says the same
                break
            if matches(pattern[2], pattern[3], path):
                return pattern[1]
        return best[1]

    @property
    def size(self) -> int:
        """Bytes of memory, roughly."""
        parts = sum(len(pattern[2]) for pattern in self.patterns)
        return sum(map(len, self.prefixes)) + 150 * len(self.prefixes) + self.weight + 250 * len(self.patterns) + 60 * parts


@dataclass(slots=True)
class RobotsFile:
    """What a file says to one crawler."""

    group: Group
    sitemaps: list[str]

    @property
    def delay_s(self) -> float | None:
        return self.group.delay_s

    @property
    def size(self) -> int:
        return 1000 + self.group.size + sum(map(len, self.sitemaps))

    def is_slow(self, url: str) -> bool:
        """Whether asking may take longer than an event loop can wait."""
        return self.group.weight * len(url) > SLOW

    def allows(self, url: str) -> bool:
        path = path_of(url)
        return path.partition("?")[0] == "/robots.txt" or self.group.allows(path)


def matches(parts: list[str], ends: bool, path: str) -> bool:
    """Whether a path has these parts in their order, the first at its beginning; the last, if it ends there, at its end.

    >>> matches(["/a", "b", ""], False, "/axbx"), matches(["/a", "b"], True, "/axbx"), matches(["/a"], True, "/a")
    (True, False, True)
    """
    if not path.startswith(parts[0]):
        return False
    at, find = len(parts[0]), path.find
    if len(parts) == 1:
        return at == len(path) or not ends
    for i in range(1, len(parts) - 1):
        at = find(parts[i], at)
        if at < 0:
            return False
        at += len(parts[i])
    last = parts[-1]
    return len(path) - len(last) >= at and path.endswith(last) if ends else find(last, at) >= 0


def path_of(url: str) -> str:
    """What rules are matched with: path and query, escaped in one way.

    >>> path_of("http://a.example/%7ea/%2f?b=%C3%A9#c"), path_of("http://a.example?b")
    ('/~a/%2F%3Fb=%C3%A9', '/%3Fb')
    """
    before = _BEFORE_PATH.match(url)
    path = normalised(url[before.end() if before else 0 :].partition("#")[0], "/%")
    return path if path.startswith("/") else f"/{path}"


def normalised(text: str, kept: str) -> str:
    """With everything escaped that may be, and nothing else; the characters that are kept stand as they are written."""
    if _PLAIN(text):
        return text
    codes = [b"%02X" % ord(character) for character in kept]

    def unescaped(found: re.Match[bytes]) -> bytes:
        code = found[1].upper()
        return b"%" + code if code in codes else bytes.fromhex(code.decode())

    return quote(_ESCAPED.sub(unescaped, text.encode("utf-8", "replace")), safe=f"{kept}=")


def read_robots(body: bytes, agent: str) -> RobotsFile:
    """What a robots.txt says to the crawler of this product token.

    >>> text = b"User-agent: Us/2.0\\nUser-agent: a\\nDisallow: /x\\nUser-agent: *\\nDisallow: /\\nSitemap: s"
    >>> found = read_robots(text, "us")
    >>> found.allows("http://a.example/x/y"), found.allows("http://a.example/y"), found.sitemaps
    (False, True, ['s'])
    """
    groups: dict[str, Group] = {}
    sitemaps: list[str] = []
    ours: set[str] = set()  # of the two names that concern us, those of the group that we are in
    naming = False
    for what, value in _statements(body):
        if what == USER_AGENT:
            ours = ours if naming else set()
            naming = True
            name = "*" if value == "*" else product_of(value[:MAX_AGENT_LENGTH])
            if name and name in ("*", agent):
                ours.add(name)
                groups.setdefault(name, Group())
        elif what == SITEMAP:
            if value and len(sitemaps) < MAX_SITEMAPS:
                sitemaps.append(value.split(None, 1)[0])
        elif what != HOST:  # these two are about the site: they neither begin nor end a group
            naming = False
            for name in ours if value else ():
                _obey(groups[name], what, value)
    group = groups.get(agent) or groups.get("*") or Group()
    group.sort()
    return RobotsFile(group, sitemaps)


def _statements(body: bytes) -> Iterator[tuple[int, str]]:
    """What each line is about, and what it says."""
    lines = _NEW_LINE.split(body[:MAX_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    if len(body) > MAX_BYTES:
        lines.pop()  # a path cut short would forbid or allow more than was meant
    for line in lines:
        if line and (stated := _stated(line.partition("#")[0].strip())):
            yield stated


def _stated(line: str) -> tuple[int, str] | None:
    name, colon, value = line.partition(":")
    if colon:
        what = FIELDS.get(name.strip().lower(), OTHER)
        if what != OTHER or not value or value[0].isspace():
            return what, value.strip()
    words = line.split(None, 2)
    for count in (1, 2):
        what = FIELDS.get(" ".join(words[:count]).lower(), OTHER)
        if what != OTHER:
            return what, " ".join(words[count:])
    return (OTHER, value.strip()) if colon else None


def _obey(group: Group, what: int, value: str) -> None:
    if what in (ALLOW, DISALLOW):
        group.add(what == ALLOW, value)
    elif what == DELAY:
        try:
            delay_s = float(value)
        except ValueError:
            return
        if math.isfinite(delay_s) and delay_s >= 0:
            group.delay_s = delay_s


def product_of(agent: str) -> str:
    """The product token by which a robots.txt calls a crawler.

    >>> product_of("Frontrank/0.1 (+https://example.org/bot)"), product_of("Mozilla/5.0 (compatible; My-Bot/2.1; +http://a.b)")
    ('frontrank', 'my-bot')
    """
    compatible = re.search(r"compatible;\s*([A-Za-z_-]+)", agent)
    token = compatible or re.match(r"\s*([A-Za-z_-]+)", agent)
    return token[1].lower() if token else ""
