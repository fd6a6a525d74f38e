"""What values of a crawl's options may be: each check returns what is wrong with one; and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import frontrank
from frontrank.errors import FrontrankError, InputError
from frontrank.frontiers.pace import check_pace
from frontrank.options import said_of

AGENT = f"frontrank/{frontrank.__version__}"


def contact_of(given: str) -> str:
    """A contact as it stands in a user agent; empty if it is neither a URL nor an e-mail address.

    >>> contact_of("https://example.org/bot"), contact_of("crawl@example.org"), contact_of("me")
    ('https://example.org/bot', 'mailto:crawl@example.org', '')
    """
    from frontrank.pages.urls import host_of

    if not re.fullmatch(r"[!-'*-~]+", given):  # printable ASCII without blanks and parentheses: it stands in a comment
        return ""
    if re.fullmatch(r"(mailto:)?[^@:/]+@[^@:/]+\.[^@:/.]+", given):
        return given if given.startswith("mailto:") else f"mailto:{given}"
    return given if given.startswith(("http://", "https://")) and "." in host_of(given) else ""


def agent_of(user_agent: str, contact: str) -> str:
    """What a crawler calls itself in a request.

    >>> agent_of("robin/1.0", "crawl@example.org")
    'robin/1.0 (+mailto:crawl@example.org)'
    """
    name, contact = user_agent or AGENT, contact_of(contact)
    return f"{name} (+{contact})" if contact and contact not in name else name


def wrong_contact(given: str) -> str:
    fine = not given or contact_of(given)
    return "" if fine else f"must be a URL or an e-mail address, such as https://example.org/bot, got {given!r}"


def wrong_agent(given: str) -> str:
    fine = not given or (given.strip() and given.isprintable() and given.isascii())
    return "" if fine else f"must be a name in plain ASCII, such as {AGENT}, got {given!r}"


def wrong_language(given: str) -> str:
    fine = re.fullmatch(r"[A-Za-z0-9*,;=. -]{1,500}", given)
    return "" if fine else f"must be tags of languages, such as de, en;q=0.5, got {given!r}"


def wrong_proxy(given: str) -> str:
    fine = not given or re.fullmatch(r"https?://[^/\s]+/?", given)
    return "" if fine else f"must be http://HOST:PORT, got {given!r}"


def wrong_pattern(given: str) -> str:
    try:
        re.compile(given)
    except (re.error, OverflowError, RecursionError) as error:
        return f"must be a regular expression, got {given!r}: {error}"
    return ""


def wrong_export(given: str) -> str:
    fine = not given or given.endswith(".jsonl")
    return "" if fine else f"must be a file name that ends in .jsonl, got {given!r}; frontrank export writes other formats"


def wrong_rule(given: str) -> str:
    from frontrank.simulation.plan import Stop

    return said_of(lambda text: Stop(until=text), given, "a stopping rule")


def wrong_revisit(given: str) -> str:
    from frontrank.orderings.revisits import parse

    try:
        if given:
            parse(given, live=True)
    except FrontrankError as error:
        return f"must be a revisit policy, got {given!r}: {error}"
    return ""


def wrong_goal(given: str) -> str:
    from frontrank.pages.scorers import goal_words

    if not given:
        return ""
    try:
        goal_words(given)
    except InputError as error:
        return str(error).removeprefix("a goal ")
    return ""


def goal_policy(goal: str) -> str:
    """The ordering for a goal: links that name it, on pages about it, first.

    The best of several pages that link somewhere counts, not their mean: it found more within the first hundred pages.
    """
    from frontrank.pages.scorers import goal_words
    from frontrank.specs import write

    return write("quality", {"scorer": f"topic:{goal_words(goal)}", "inherit": "max", "anchor": "1"})


def check_stop(policy: str, until: str | None) -> None:
    """Raise SpecError if there is no such ordering, or it cannot stop by this rule."""
    from frontrank.orderings.registry import parse
    from frontrank.simulation.plan import Stop

    Stop(until=until).given_to(parse(policy))


def stops(policy: str, until: str | None) -> bool:
    """Whether an ordering can stop by this rule."""
    try:
        check_stop(policy, until)
    except FrontrankError:
        return False
    return True


def check_kept(pace: str, seeds: Sequence[str], delay_s: float) -> None:
    """Raise InputError if the hosts of these seeds, each with www. and without, cannot give so many pages; of none: any may."""
    from frontrank.pages.urls import host_of

    if hosts := {host_of(url).removeprefix("www.") for url in seeds}:
        check_pace(pace, 2 * len(hosts), delay_s)


def check_addresses(politeness_by: str, proxy: str) -> None:
    """Raise InputError if the addresses that politeness goes by are known to a proxy alone."""
    if politeness_by == "ip" and proxy:
        raise InputError(
            f"--politeness-by ip needs the addresses of hosts, but the proxy {proxy} looks them up; "
            f"crawl without --proxy, or group hosts by domain or by a file"
        )
