"""Crawl: a live crawl, one event at a time, durable. Every driver of it (frontrank crawl, Scrapy, yours) calls the same verbs.

The log, the snapshots and the frontier are its own: no SQL and no queue arrays outside this room. May import: simulation,
orderings and what lies below.
"""
