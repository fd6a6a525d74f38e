"""Simulation: a whole crawl of a known web at once, with the code that a live crawl runs event by event.

May import: orderings and what lies below.
"""
