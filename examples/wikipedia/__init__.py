"""Wikipedia's dumps and clickstream as a crawl directory: a public example of links with a search log."""
