"""What the owner of a page asks of crawlers: X-Robots-Tag headers and <meta name=robots>, which say the same things.

    X-Robots-Tag: noindex, nofollow          to every crawler
    X-Robots-Tag: otherbot: noindex          to the crawler of this name; so is <meta name=otherbot content=noindex>
    tdm-reservation: 1                       a header or a <meta>: the right to mine text and data is reserved (TDMRep)

As in a robots.txt, statements to a crawler by its name replace those to all crawlers. Of TDMRep, <meta> goes before the header,
and any value but 0 and 1 says nothing. What a page asks for is obeyed by purpose: docs/what-sites-ask.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SEARCH, TRAIN, ARCHIVE = PURPOSES = ("search", "train", "archive")
NOINDEX = "noindex"
OWN_NAME = "frontrank"  # by which sites call a crawler of ours that has no other name
Statement = tuple[str, str]  # to whom (empty: to all), and what
TDM = "tdm-reservation"
MAX_LENGTH, MAX_STATEMENTS = 2_000, 50  # characters of one header or <meta> that are read; how many of a page are kept
FLAGS = ("noindex", "nofollow", "noarchive", "noai", "noml", "noimageai")
WORDS = frozenset((*FLAGS, "none", "all", "index", "follow", "nocache", "nosnippet", "noimageindex", "notranslate"))
VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "max-age", "unavailable_after", "unavailable-after")
ORDINARY = frozenset(("viewport", "description", "keywords", "author", "generator", "theme-color"))  # of most <meta>
MAX_AGE_S = 365 * 86_400  # more is no more than this

_AGENT = re.compile(r"[a-z0-9_*-]+(?:/[a-z0-9._-]+)?")
_AGE = re.compile(r"max-age\s*[:=]\s*([0-9]{1,12})")
_WORD = re.compile(r"[a-z_-]+")


@dataclass(frozen=True, slots=True)
class Directives:
    """What holds for one page and one crawler.

    >>> asked = [*of_header("noindex, otherbot: none"), *of_meta({"name": "frontrank", "content": "nofollow"})]
    >>> [Directives.of(asked, agent).noindex for agent in ("otherbot", "frontrank", "")]
    [True, False, True]
    """

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    noai: bool = False
    noml: bool = False
    noimageai: bool = False
    tdm_reserved: bool = False
    max_age_s: float = 0.0  # for so long the page does not change, its owner says

    @classmethod
    def of(cls, statements: Iterable[Statement], agent: str = "") -> Directives:
        """``agent``: the product token of the crawler, in lower case."""
        to_all, to_us, reserved = [], [], False
        for whom, what in statements:
            if whom == TDM:
                reserved = what == "1" if what in ("0", "1") else reserved
            elif whom == agent:
                to_us.append(what)
            elif not whom:
                to_all.append(what)
        text = ",".join(to_us or to_all)
        if not text and not reserved:
            return NOTHING
        words = set(_WORD.findall(text))
        if "none" in words:
            words |= {"noindex", "nofollow"}
        if "nocache" in words:
            words.add("noarchive")
        age = _AGE.search(text)
        flags = {flag: flag in words for flag in FLAGS}
        return cls(**flags, tdm_reserved=reserved, max_age_s=float(min(int(age[1]), MAX_AGE_S)) if age else 0.0)

    def withheld(self, purpose: str = SEARCH) -> str:
        """Why a crawl for this purpose must not use the page; empty if it may.

        >>> Directives(noai=True).withheld("train"), Directives(noai=True).withheld("search")
        ('noai', '')
        """
        asked = [NOINDEX] if self.noindex else []
        if purpose == ARCHIVE and self.noarchive:
            asked.append("noarchive")
        if purpose == TRAIN:
            asked += [flag for flag in ("noai", "noml", "noimageai") if getattr(self, flag)]
            asked += [TDM] if self.tdm_reserved else []
        return asked[0] if asked else ""


NOTHING = Directives()


def of_header(value: str) -> list[Statement]:
    """What one X-Robots-Tag header says. After a name, all is for the crawler of this name, up to the next name.

    >>> of_header("noindex, otherbot: nofollow, noai, max-snippet: 3")
    [('', 'noindex'), ('otherbot', 'nofollow'), ('otherbot', 'noai'), ('otherbot', 'max-snippet: 3')]
    """
    statements: list[Statement] = []
    whom = ""
    for part in value[:MAX_LENGTH].lower().split(",")[:MAX_STATEMENTS]:
        name, colon, rest = part.partition(":")
        name = name.strip()
        if colon and name not in VALUED and _AGENT.fullmatch(name):
            whom, part = agent_of(name), rest
        if part.strip():
            statements.append((whom, part.strip()))
    return statements


def of_meta(attributes: Mapping[str, str | None]) -> list[Statement]:
    """What one <meta> says to crawlers; nothing if it is about something else.

    >>> of_meta({"name": "Robots", "content": "NoIndex"}), of_meta({"name": "description", "content": "A page."})
    ([('', 'noindex')], [])
    """
    name = (attributes.get("name") or "").strip().lower()
    if not name or name in ORDINARY:
        return []
    content = (attributes.get("content") or "")[:MAX_LENGTH].strip().lower()
    if name == TDM:
        return [(TDM, content)]
    if name != "robots" and (len(content) > 200 or not _AGENT.fullmatch(name) or WORDS.isdisjoint(_WORD.findall(content))):
        return []
    return [(agent_of(name), content)] if content else []


def agent_of(name: str) -> str:
    """The product token that a name means; empty if it means all crawlers."""
    token = name.partition("/")[0]
    return "" if token in ("*", "robots") else token
