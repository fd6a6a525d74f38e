"""Orderings, the product: one file each. ``online`` ones change priorities with each fetch, ``batch`` ones rank a frontier.

An ordering knows no queue, no clock, no file, no URL beyond what it declares in ``needs``. May import: search, frontiers,
web, pages, kernels.
"""

DEFAULT_ORDERING = "surf"  # what every command and every crawl goes by, unless another ordering is named
