"""Fetching: HTTP. ``frontrank crawl``, the Scrapy add-on, and what both share: when a server asks to be left alone.

Only ``addon`` imports Scrapy. May import: crawl, sources and what lies below.
"""
