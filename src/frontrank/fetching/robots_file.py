"""One robots.txt, read by Protego (RFC 9309): the longest rule that matches a URL holds, Allow among equals.

Protego takes linear time for a file and for a URL, with one exception: it copies every rule to every agent of its group, which
is quadratic in a file of thousands of agents. So it reads a file in which the other crawlers share one name, without rules.

Beyond ``SLOW`` (characters of the file times those of the URL) a check belongs in a thread: the worst file of 500 KiB takes
0.14 s for a URL of 2,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from frontrank.errors import need

if TYPE_CHECKING:
    from protego import Protego

MAX_BYTES = 500 * 1024
MAX_SITEMAPS = 1_000
SLOW = 2_000_000  # comparisons of characters, in the worst case: about a millisecond
MAX_AGENT_LENGTH = 500
OTHERS = "0"  # the name that all other crawlers share: no product token has a digit

_NEW_LINE = re.compile(r"\r\n|\r|\n")
_USER_AGENT = re.compile(r"\s*user[- ]?agent(?:\s*:([^#]*)|\s([^#:]*)$)", re.IGNORECASE)
_SITEMAP = re.compile(r"\s*(?:sitemaps?|site-map)[:\s]", re.IGNORECASE)
_SIGNAL = re.compile(r"\s*content-signal\s*:([^#]*)", re.IGNORECASE)
_USE = re.compile(r"(?:^|[,\s])(search|ai-input|ai-train)\s*=\s*(yes|no)(?=[,\s]|$)", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:dis)?allow\s*:", re.IGNORECASE)


@dataclass(slots=True)
class RobotsFile:
    """What a file says to one crawler."""

    parser: Protego
    agent: str
    length: int  # characters that Protego read
    size: int  # bytes of memory, roughly
    signals: Mapping[str, bool] = field(default_factory=dict)  # what its Content-Signal lines allow: search, ai-input, ai-train

    @property
    def delay_s(self) -> float | None:
        return self.parser.crawl_delay(self.agent)

    @property
    def sitemaps(self) -> list[str]:
        return [value.split(None, 1)[0] for value in self.parser.sitemaps][:MAX_SITEMAPS]

    def is_slow(self, url: str) -> bool:
        """Whether a check may take longer than an event loop can wait."""
        return self.length * len(url) > SLOW

    def allows(self, url: str) -> bool:
        return self.parser.can_fetch(url, self.agent)


def read_robots(body: bytes, agent: str) -> RobotsFile:
    """What a robots.txt says to the crawler of this product token.

    >>> text = b"User-agent: Us/2.0\\nUser-agent: a\\nDisallow: /x\\nUser-agent: *\\nDisallow: /\\nSitemap: s"
    >>> found = read_robots(text, "us")
    >>> found.allows("http://a.example/x/y"), found.allows("http://a.example/y"), found.sitemaps
    (False, True, ['s'])
    """
    need("protego")
    from protego import Protego

    lines = _NEW_LINE.split(body[:MAX_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    if len(body) > MAX_BYTES:
        lines.pop()  # a path cut short would forbid or allow more than was meant
    kept = groups_for(agent, lines)
    text = "\n".join(kept)
    signals = signals_for(agent, lines) if b"content-signal" in body.lower() else {}
    return RobotsFile(Protego.parse(text), agent, len(text), 1000 + 350 * len(kept) + 6 * len(text), signals)


def signals_for(agent: str, lines: Iterable[str]) -> dict[str, bool]:
    """What the Content-Signal lines of the group for this crawler say, else those for all (contentsignals.org).

    A line before the first group is for all. Of two answers for one use, no counts.

    >>> lines = ["User-agent: *", "Content-Signal: search=yes, ai-train=no", "User-agent: us", "Content-Signal: search=no"]
    >>> signals_for("us", lines), signals_for("others", lines)
    ({'search': False}, {'search': True, 'ai-train': False})
    """
    found: dict[str, dict[str, bool]] = {"*": {}}
    tokens: set[str] = {"*"}
    in_names = False
    for line in lines:
        if named := _USER_AGENT.match(line):
            name = (named[1] or named[2] or "").strip()
            token = name if name == "*" else product_of(name[:MAX_AGENT_LENGTH])
            tokens = {*tokens, token} if in_names else {token}
            in_names = True
            if token == agent:
                found.setdefault(agent, {})
        elif line.strip():
            in_names = False
            if signal := _SIGNAL.match(line):
                for use, answer in _USE.findall(signal[1][:MAX_AGENT_LENGTH]):
                    for group in tokens & found.keys():
                        found[group][use.lower()] = found[group].get(use.lower(), True) and answer.lower() == "yes"
    return found.get(agent, found["*"])


def groups_for(agent: str, lines: list[str]) -> list[str]:
    """The groups for this crawler and for all, the others without their rules, and the sitemaps.

    >>> groups_for("us", ["User-agent: a", "Disallow: /a", "User-agent: Us/2.0", "Disallow: /b", "User-agent: b", "Allow: /"])
    ['User-agent: 0', 'User-agent: us', 'Disallow: /b', 'User-agent: 0']
    """
    kept: list[str] = []
    is_ours = has_rules = False
    for line in lines:
        if named := _USER_AGENT.match(line):
            name = (named[1] or named[2] or "").strip()
            token = name if name == "*" else product_of(name[:MAX_AGENT_LENGTH])
            # Agents that follow each other, without a rule between them, share a group. What is not clearly a rule does not
            # end it here: Protego, which gets these lines, decides.
            is_ours = token in ("*", agent) or (is_ours and not has_rules)
            has_rules = False
            kept.append(f"User-agent: {token if token in ('*', agent) else OTHERS}")
        elif is_ours or _SITEMAP.match(line):
            has_rules = has_rules or _RULE.match(line) is not None
            kept.append(line)
    return kept


def product_of(agent: str) -> str:
    """The product token by which a robots.txt calls a crawler.

    >>> product_of("Frontrank/0.1 (+https://example.org/bot)"), product_of("Mozilla/5.0 (compatible; My-Bot/2.1; +http://a.b)")
    ('frontrank', 'my-bot')
    """
    compatible = re.search(r"compatible;\s*([A-Za-z_-]+)", agent)
    token = compatible or re.match(r"\s*([A-Za-z_-]+)", agent)
    return token[1].lower() if token else ""
