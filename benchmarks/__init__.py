"""Benchmarks: ratios against a peer or a baseline in the same run. Absolute times mean nothing on shared machines."""
