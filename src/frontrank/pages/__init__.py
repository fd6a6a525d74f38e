"""Pages as they come from the wire: URLs, HTML, content codings, WARC records.

Knows bytes and strings of one page at a time: no crawl, no web. May import: kernels.
"""
