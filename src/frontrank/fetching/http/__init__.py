"""HTTP/1.1 as a crawler speaks it: one GET at a time on a connection, nothing believed, everything bounded.

    message      a response as its bytes come: head, framing of the body, limits
    connection   one connection, and the request that is under way on it
    client       connections kept and made: names, TLS, proxies, one deadline for all of it

Libraries for applications follow redirects, keep cookies and undo codings by themselves; here each of these is the crawl's
own to decide, and what a hostile server sends has a name (``failures``). Measured on pages of 50 kB on loopback, milliseconds
of CPU a page: this 0.06, pycurl 0.05, aiohttp 0.28, httpx 3.1.
"""
