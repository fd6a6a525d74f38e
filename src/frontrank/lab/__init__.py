"""The lab judges orderings: measures, comparisons, reports, and a served web to race crawlers on.

May import everything below the command line.
"""
