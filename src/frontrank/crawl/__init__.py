"""Crawl: a live crawl, one event at a time, durable. Every driver of it (frontrank crawl, Scrapy, yours) calls the same verbs.

    crawl        Crawl: the verbs of a crawler                 control, inspect, queues    what it offers to others
    recorder     where events happen, and are acknowledged     taking                      which pages are handed out
    state        CrawlState: all that a crawl is; apply(event) events                      one class an event
    page_table, hosts, link_store, ordering_state, leases, pending_links, rules, search_demand, progress, ranking
                 the parts of the state, each of which saves and restores itself
    recovery     begin, recover                                replay, saving, stored      events, snapshots, notes again
    log          what a crawl asks of its log                  journal, memory_log         the two logs that are shipped

The log, the snapshots and the frontier are its own: no SQL and no queue arrays outside this package.
"""
