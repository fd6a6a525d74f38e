"""Kernels: what numba compiles. The compiler's habits, the hash table, PageRank and walks over links.

Knows arrays and nothing else: no page, no URL, no file. May import: errors.
"""
