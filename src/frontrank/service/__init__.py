"""Service: crawls as a server, for fetchers in any language: gRPC (URLFrontier's protocol), HTTP, a dashboard, clients.

    from frontrank.service import Client

    with Client("localhost:7071") as client:
        client.put(["https://example.org/"])
        for url in client.get():
            ...

No decision about the order is made here: that is the ordering's of each crawl. May import: lab and what lies below.
"""
