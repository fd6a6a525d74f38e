"""Write a crawl directory from Wikipedia's clickstream, its dumps, or both; then use it as frontrank import's.

    python -m examples.wikipedia --clickstream clickstream-enwiki-2024-05.tsv.gz wikipedia.crawl
    python -m examples.wikipedia --links XXwiki-latest-pagelinks.sql.gz \\
        --clickstream clickstream-XXwiki-2024-05.tsv.gz wikipedia.crawl
"""

from __future__ import annotations

import argparse
import sys

from examples.wikipedia.wikipedia import read_wikipedia
from frontrank.errors import FrontrankError
from frontrank.sources.imported_crawl import check_crawl_target, save_crawl


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.wikipedia", description="Write a crawl directory of Wikipedia.")
    parser.add_argument("--clickstream", metavar="TSV", help="clickstream-XXwiki-MONTH.tsv.gz: clicks from search engines")
    parser.add_argument("--links", metavar="DUMP", help="XXwiki-DATE-pagelinks.sql.gz, with its page and linktarget beside it")
    parser.add_argument("--pages", metavar="DUMP", help="the page dump, if it is elsewhere")
    parser.add_argument("--targets", metavar="DUMP", help="the linktarget dump, if it is elsewhere")
    parser.add_argument("--skip-bad", action="store_true", help="skip lines of the clickstream that cannot be used")
    parser.add_argument("--force", action="store_true", help="replace the target if it is an imported crawl or a web")
    parser.add_argument("target")
    options = parser.parse_args()
    try:
        check_crawl_target(options.target, options.force)
        crawl, counts = read_wikipedia(
            options.links,
            options.pages,
            options.targets,
            options.clickstream,
            skip_bad=options.skip_bad,
            progress=lambda text: print(text, file=sys.stderr),
        )
        save_crawl(options.target, crawl, options.force)
    except FrontrankError as error:
        parser.error(str(error))
    print(f"{options.target}: {crawl.web.pages:,} pages, {len(crawl.fetched):,} fetched, {crawl.web.links:,} links")
    print(f"  {sum(counts.skipped.values()):,} bad lines of the clickstream skipped")
    print(f"  {counts.other_links:,} links from or to pages that are not articles")
    print(f"  {counts.unknown_clickstream_rows:,} rows of the clickstream whose article is not in the dumps")


if __name__ == "__main__":
    main()
