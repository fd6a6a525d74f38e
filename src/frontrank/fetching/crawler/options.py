"""What a crawl is asked to do: one frozen value, checked when it is made, and stored with the crawl.

Everything about an option stands here, once: its default, limits and help. The command line, the TOML file (``config``), the
tables of docs/crawl.md and what --resume may change are made from it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from frontrank.errors import InputError
from frontrank.fetching.crawler import option_checks
from frontrank.frontiers.pace import GREEDY_PACE, chosen_pace, wrong_pace
from frontrank.options import SIZE, TIME, Option, options_of
from frontrank.options import option as any_option
from frontrank.orderings import DEFAULT_ORDERING
from frontrank.pages.directives import PURPOSES, SEARCH

if TYPE_CHECKING:
    from frontrank.fetching.credentials import Credentials
    from frontrank.frontiers.politeness import Politeness

START, STOP, REACH = "Where to start and in which order", "When to stop", "How far to go"
AGAIN = "Revisits"
POLITE, SENDER, KEPT = "Politeness", "Requests", "What is kept"


def option(default: Any, group: str, help: str, **more: Any) -> Any:
    return any_option(default, help, group=group, **more)


@dataclass(frozen=True)
class Options:
    """The crawl as it was asked for. 0 is no limit, but for max_depth, where it is the seeds alone."""

    seeds: tuple[str, ...] = option((), START, "URLs to start from, http or https.", metavar="URL", changes=False)
    policy: str = option(DEFAULT_ORDERING, START, "The ordering: NAME or NAME:KEY=VALUE,...", name="ordering", metavar="P")
    budget: int = option(
        0,
        STOP,
        "Stop after N pages, earlier runs included. Pages that fail count; pages that robots.txt forbids do not. 0: no limit.",
        metavar="N",
    )
    time_s: float = option(
        0.0,
        STOP,
        "Stop this run after S seconds, or 30m, 2h, 1d; pages in flight still arrive. 0: no limit.",
        name="time",
        metavar="S",
        kind=TIME,
    )
    until: str | None = option(
        None, STOP, "Stop at a coverage that rankmass guarantees: coverage=0.9.", metavar="RULE", wrong=option_checks.wrong_rule
    )
    revisit: str = option(
        "",
        AGAIN,
        "When to fetch pages again: fixed:every=1d, adaptive or gain. Such a crawl ends by its budget, its time, or Ctrl-C.",
        metavar="R",
        wrong=option_checks.wrong_revisit,
    )
    revisit_share: float = option(
        0.3,
        AGAIN,
        "Share of fetches that are revisits, as long as some are due and new pages are waiting.",
        metavar="SHARE",
        maximum=1.0,
    )
    scope: str = option(
        "host",
        REACH,
        "The hosts of the seeds (with or without www.), everything under their registered domains, or any host.",
        metavar="host|domain|any",
        choices=("host", "domain", "any"),
    )
    include: tuple[str, ...] = option(
        (),
        REACH,
        "Follow only URLs that match one of these regular expressions; repeatable.",
        metavar="REGEX",
        wrong=option_checks.wrong_pattern,
    )
    exclude: tuple[str, ...] = option(
        (),
        REACH,
        "Do not follow URLs that match one of these regular expressions; repeatable.",
        metavar="REGEX",
        wrong=option_checks.wrong_pattern,
    )
    max_depth: int = option(64, REACH, "Most links between a seed and a page.", metavar="N", maximum=65_533)
    host_budget: int = option(0, REACH, "Most pages of one host. 0: no limit.", metavar="N")
    max_links: int = option(10_000, REACH, "Most links followed from one page.", metavar="N", minimum=1)
    max_size: int = option(
        10_000_000, REACH, "Larger pages fail, before or after decompression.", metavar="SIZE", minimum=1, kind=SIZE
    )
    sitemaps: bool = option(
        False,
        REACH,
        "Also start from the URLs in the sites' sitemaps; pages of a host wait until its sitemaps are read.",
        changes=False,
    )
    delay: float = option(
        1.0,
        POLITE,
        "Seconds between two requests to one host; a longer Crawl-delay in robots.txt wins, up to 60 s.",
        metavar="S",
        kind=TIME,
    )
    per_host: int = option(1, POLITE, "Most requests in flight to one host. 0: no limit.", metavar="N")
    politeness_by: str = option(
        "host",
        POLITE,
        "What --delay, --per-host and host budgets apply to: each host, all hosts of a registered domain, all hosts at one "
        "address, or groups of hosts from a file, one group per line.",
        metavar="host|domain|ip|FILE",
        changes=False,
    )
    in_flight: int = option(16, POLITE, "Most requests in flight in total.", metavar="N", minimum=1, maximum=10_000)
    pace: str = option(
        GREEDY_PACE,
        POLITE,
        "greedy: every page that may go, at once. 5/s: five pages per second; while the crawl is ahead of that, a page goes "
        "only if no better one waits for its host. half: as choosy, but at least half as fast as greedy.",
        metavar="PACE",
        wrong=wrong_pace,
    )
    within: float = option(
        0.0,
        POLITE,
        "Have the pages of --budget within S seconds, or 30m, 2h, 1d, and be as choosy as that allows; time between runs does "
        "not count. 0: no such wish.",
        metavar="S",
        kind=TIME,
    )
    robots: bool = option(True, POLITE, "Obey robots.txt; --no-robots is for sites of your own.")
    contact: str = option(
        "",
        POLITE,
        "A URL or e-mail address for site owners; it is sent as part of the user agent.",
        metavar="URL|EMAIL",
        wrong=option_checks.wrong_contact,
    )
    user_agent: str = option(
        "",
        POLITE,
        "What the crawler calls itself; default: frontrank/VERSION. robots.txt is searched for the part before the slash.",
        metavar="NAME",
        wrong=option_checks.wrong_agent,
    )
    purpose: str = option(
        SEARCH,
        POLITE,
        "What the pages are for: sites may allow search and forbid training (docs/what-sites-ask.md).",
        metavar="search|train|archive",
        choices=PURPOSES,
    )
    retries: int = option(
        2,
        SENDER,
        "Further attempts after a failure of the page that may pass, after 1, 2, 4, ... seconds.",
        metavar="N",
        maximum=1_000,
    )
    give_up_after: float = option(
        21_600.0,
        SENDER,
        "Give up on a host that has not answered for S seconds, or 30m, 6h, 1d: its pages wait for --resume. 0: never.",
        metavar="S",
        kind=TIME,
    )
    timeout: float = option(30.0, SENDER, "Seconds for one page.", metavar="S", minimum=0.001, kind=TIME)
    proxy: str = option(
        "",
        SENDER,
        "Send all requests through this HTTP proxy. It is stored with the crawl.",
        metavar="URL",
        wrong=option_checks.wrong_proxy,
    )
    accept_language: str = option(
        "en",
        SENDER,
        "The languages that are asked for, as in de, en;q=0.5.",
        metavar="TAGS",
        wrong=option_checks.wrong_language,
    )
    header: tuple[str, ...] = option(
        (),
        SENDER,
        "A header for the hosts of the seeds; repeatable. Not stored.",
        metavar="NAME:VALUE",
        secret=True,
    )
    cookie_file: str = option(
        "", SENDER, "Cookies in Netscape's format, each for its own domain and path. Not stored.", metavar="FILE", secret=True
    )
    auth_file: str = option(
        "",
        SENDER,
        "User names and passwords by host, in netrc's format (basic authentication). Not stored.",
        metavar="FILE",
        secret=True,
    )
    fetchers: int = option(
        1,
        SENDER,
        "Processes that fetch and parse, all sharing one order, one pace per host and one journal. 1: the crawl's own process.",
        metavar="N",
        minimum=1,
        maximum=64,
    )
    allow_private: bool = option(False, SENDER, "Also fetch from loopback, private and link-local addresses.")
    warc: bool = option(True, KEPT, "Keep the pages as WARC files.", changes=False)
    archive_credentials: bool = option(
        False, KEPT, "Keep what --header, --cookie-file and --auth-file send in the requests of the WARC files, too.", no=False
    )
    export: str = option(
        "", KEPT, "Also write each page with its text to this .jsonl file.", metavar="FILE", wrong=option_checks.wrong_export
    )
    queries: str = option(
        "", START, "A query log, for orderings that are driven by queries; it is stored with the crawl.", metavar="FILE"
    )
    goal: str = option(
        "",
        START,
        "What the pages should be about, in words: links that lead there go first, one page at a time unless --in-flight is "
        "given; the best pages found are listed.",
        metavar="WORDS",
        changes=False,
        wrong=option_checks.wrong_goal,
    )
    trap_share: float = option(
        0.05,
        REACH,
        "Share of the pages fetched that a possible trap may have; 1: traps are only reported.",
        metavar="SHARE",
        maximum=1.0,
    )
    seeds_first: bool = option(
        True, START, "Fetch every seed before pages that links lead to; --no-seeds-first leaves seeds to the ordering."
    )

    needs_again: tuple[str, ...] = ()  # flags of what the crawl was started with and is stored nowhere
    credentials: Credentials = field(init=False, repr=False, compare=False)  # what the secret options say

    def __post_init__(self) -> None:
        from frontrank.fetching.credentials import Credentials
        from frontrank.pages.urls import usable_seed

        for one in options().values():
            value = getattr(self, one.field)
            if isinstance(value, list):
                object.__setattr__(self, one.field, value := tuple(value))
            one.check(value, one.field)
        if not self.seeds:
            raise InputError("no seeds given; name at least one URL to start from")
        object.__setattr__(self, "seeds", tuple(dict.fromkeys(usable_seed(url) for url in self.seeds)))
        object.__setattr__(self, "header", tuple(filter(None, self.header)))
        credentials = Credentials.read(self.seeds, self.header, self.cookie_file, self.auth_file)
        object.__setattr__(self, "credentials", credentials)
        if self.goal.strip() and self.policy == options()["policy"].default:
            object.__setattr__(self, "policy", option_checks.goal_policy(self.goal))
        object.__setattr__(self, "export", self.export and os.path.abspath(self.export))  # it may be resumed elsewhere
        option_checks.check_stop(self.policy, self.until)
        own_hosts = self.seeds if self.scope == self.politeness_by == "host" else ()
        option_checks.check_kept(self.politeness.pace, own_hosts, self.delay)
        option_checks.check_addresses(self.politeness_by, self.proxy)

    @property
    def agent(self) -> str:
        """What is sent as User-Agent."""
        return option_checks.agent_of(self.user_agent, self.contact)

    @property
    def politeness(self) -> Politeness:
        from frontrank.frontiers.politeness import Politeness

        return Politeness(
            delay_s=self.delay,
            per_host=self.per_host,
            in_flight=self.in_flight,
            host_budget=self.host_budget,
            retries=self.retries,
            # Nothing is out for longer than this, however a download ends: robots.txt may be asked for first.
            lease_s=4 * self.timeout + 3600.0,
            host_patience_s=self.give_up_after,
            pace=chosen_pace(self.pace, self.within, self.budget),
        )

    @property
    def one_by_one(self) -> bool:
        """Whether each page waits for the one before it."""
        return bool(self.goal) and self.in_flight == options()["in_flight"].default

    @property
    def reach(self) -> tuple[Any, ...]:
        """What decides whether a URL belongs to the crawl."""
        return self.scope, self.include, self.exclude, self.max_depth

    def json(self) -> dict[str, Any]:
        """What is stored with a crawl: nothing that is secret, only that it was given."""
        stored = {name: getattr(self, name) for name, one in options().items() if not one.secret}
        return {**stored, "needs_again": [one.flag for one in secret_options() if getattr(self, one.field)]}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Options:
        """The options that were stored with a crawl; those this version does not know are ignored."""
        known: dict[str, Any] = {name: stored[name] for name in options().keys() & stored.keys()}
        return cls(**known, needs_again=tuple(stored.get("needs_again", ())))

    def with_changes(self, changes: Mapping[str, Any]) -> Options:
        """The same crawl, resumed with these options."""
        changed = {"needs_again": (), **changes}
        missing = [one.flag for one in secret_options() if one.flag in self.needs_again and one.field not in changes]
        if missing:
            raise InputError(
                f"this crawl was started with {' and '.join(missing)}, which is not stored with it; give it again, "
                f"or continue without it: {missing[0]} ''"
            )
        if "policy" in changed and "until" not in changed and not option_checks.stops(changed["policy"], self.until):
            changed["until"] = None  # a rule of the ordering that is left
        new = replace(self, **changed)
        object.__setattr__(new, "policy", changed.get("policy", self.policy))  # even if it is the one that a goal replaces
        for one in options().values():
            if not one.changes and getattr(new, one.field) != getattr(self, one.field):
                given = "another seed" if one.field == "seeds" else one.flag
                raise InputError(
                    f"{given} was given with --resume, but {fixed_options()} stay as the crawl was started; "
                    f"start a new crawl with --out DIR for others"
                )
        return new


def options() -> dict[str, Option]:
    """Every option by the name of its field."""
    return options_of(Options)


def secret_options() -> list[Option]:
    return [one for one in options().values() if one.secret]


def fixed_options(mark: str = "") -> str:
    """What no --resume changes, in a sentence; ``mark`` stands around flags."""
    flags = [f"{mark}{one.flag}{mark}" for one in options().values() if not one.changes and one.field != "seeds"]
    return f"seeds, {', '.join(flags[:-1])} and {flags[-1]}"
