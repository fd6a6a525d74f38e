"""The web: what is known of one (links, hosts, texts, importance), and what a crawl knows of it at one moment.

Frozen values and readers of files; nothing here decides. May import: pages, kernels.
"""
