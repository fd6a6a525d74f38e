"""Search: what searchers ask, an engine over what is fetched, sketches, and the impact a page would have.

May import: frontiers, web, pages, kernels.
"""
