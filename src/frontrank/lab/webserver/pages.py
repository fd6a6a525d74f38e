"""What is sent: HTML, robots.txt and sitemaps. Every string comes back from a parser as it was.

Title in <title>, links in <nav> in the order of the page, text in <main>. A carriage return is written as a reference,
since a parser makes a line feed of a plain one; NUL, which HTML cannot hold, is left out.

    robots.txt   https://www.rfc-editor.org/rfc/rfc9309, and Crawl-delay
    sitemaps     https://www.sitemaps.org/protocol.html: at most 50,000 URLs a file, then an index
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SITEMAP = '<?xml version="1.0" encoding="UTF-8"?>\n<{0} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{1}</{0}>\n'
PAGE = (
    '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{}</title></head>\n'
    "<body><nav>\n{}</nav>\n<main>{}</main></body></html>\n"
)


def escaped(text: str) -> str:
    """
    >>> escaped('a < "b" & c')
    'a &lt; "b" &amp; c'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;").replace("\0", "") if "\r" in text or "\0" in text else text


def link(url: str) -> str:
    """The beginning of a link, up to its anchor."""
    return '<a href="' + escaped(url).replace('"', "&quot;") + '">'


def page(title: str, links: Iterable[str], text: str) -> bytes:
    """A page; links are ready HTML."""
    return PAGE.format(escaped(title), "".join(links), escaped(text)).encode("utf-8", "replace")


def robots(crawl_delay: float, disallowed: Iterable[str], sitemap: str) -> bytes:
    lines = ["User-agent: *"]
    if crawl_delay:
        lines.append(f"Crawl-delay: {crawl_delay:g}")
    # In robots.txt * and $ are signs of their own.
    lines += [f"Disallow: {path.replace('*', '%2A').replace('$', '%24')}" for path in sorted(disallowed)] or ["Disallow:"]
    if sitemap:
        lines += ["", f"Sitemap: {sitemap}"]
    return ("\n".join(lines) + "\n").encode()


def urlset(urls: Iterable[str]) -> bytes:
    return SITEMAP.format("urlset", "".join(f"<url><loc>{escaped(url)}</loc></url>\n" for url in urls)).encode()


def sitemap_index(urls: Iterable[str]) -> bytes:
    return SITEMAP.format("sitemapindex", "".join(f"<sitemap><loc>{escaped(url)}</loc></sitemap>\n" for url in urls)).encode()


def home(name: str, counts: str, commands: Sequence[str], seeds: Sequence[str], linked: bool) -> bytes:
    """What a person sees who opens the server's own address."""
    shown = [f"{link(url)}{escaped(url)}</a>" if linked else escaped(url) for url in seeds]
    body = (
        f"<h1>{escaped(name)}</h1>\n<p>A known web, served for testing crawlers: {escaped(counts)}.</p>\n"
        f"<p>Crawl it:</p>\n<pre>{escaped(chr(10).join(commands))}</pre>\n"
        f"<p>Seeds:</p>\n<ul>\n" + "".join(f"<li>{seed}</li>\n" for seed in shown) + "</ul>\n"
    )
    head = f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{escaped(name)}</title></head>\n<body>\n'
    return (head + body + "</body></html>\n").encode("utf-8", "replace")
