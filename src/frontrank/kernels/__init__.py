"""Kernels: functions that numba compiles, and what they are compiled with; the hash table, PageRank and walks over links.

Knows arrays and nothing else: no page, no URL, no file. May import: errors.
"""
