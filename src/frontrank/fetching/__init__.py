"""Fetching: HTTP. ``frontrank crawl``, the Scrapy add-on, and what both share: robots.txt, limits, private addresses.

The only room that imports Scrapy. May import: crawl, sources and what lies below.
"""
