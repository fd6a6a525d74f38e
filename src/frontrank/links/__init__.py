"""Sums along links: PageRank and in-degrees, on one machine."""
